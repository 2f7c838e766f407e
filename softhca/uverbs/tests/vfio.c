/*
 * VFIO's files, answered as by the kernel: what a driver asks of container, group and function, by Linux' own header; and what no
 * driver asks. To be run with one device and one function (--vfio 1).
 */
#include "prelude.h"
#include <fcntl.h>
#include <linux/vfio.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#define FUNCTION "ca00:02:00.0"
#define GROUP "/dev/vfio/51713"

enum { PAGE = 4096, REVISION = 0x0, QUEUE_HIGH = 0x10, QUEUE_LOW = 0x14, COMMANDS = 0x18, INITIALIZING = 0x1fc,
       TIMER = 0x1004, HEALTH_COUNTER = 0x1010, TABLE = 0x2000, PENDING = 0x3000, BLUEFLAME = 0x10800 };

static int container, group, function;
/* An address where nothing is, of which the compiler does not know. */
static char *volatile nowhere = (char *)8;

/* Fails with this error number. */
#define FAILS(call, error)                                                                                    \
	do {                                                                                                  \
		errno = 0;                                                                                    \
		long result = (long)(call);                                                                   \
		if (result != -1 || errno != error) {                                                         \
			printf("line %d: %s: %ld, errno %d, not %s\n", __LINE__, #call, result, errno, #error); \
			failures++;                                                                           \
		}                                                                                             \
	} while (0)

static void open_function(void)
{
	EXPECT((container = open("/dev/vfio/vfio", O_RDWR)) >= 0);
	EXPECT((group = open(GROUP, O_RDWR)) >= 0);
	EXPECT(ioctl(group, VFIO_GROUP_SET_CONTAINER, &container) == 0);
	EXPECT(ioctl(container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU) == 0);
	EXPECT((function = ioctl(group, VFIO_GROUP_GET_DEVICE_FD, FUNCTION)) >= 0);
}

static void close_function(void)
{
	EXPECT(close(function) == 0);
	EXPECT(close(container) == 0);
	EXPECT(close(group) == 0);
}

static void files_are_where_drivers_look(void)
{
	struct stat status;
	char link[256] = {};
	EXPECT(stat("/sys/bus/pci/devices/" FUNCTION "/", &status) == 0 && S_ISDIR(status.st_mode));
	EXPECT(readlink("/sys/bus/pci/devices/" FUNCTION "/iommu_group", link, sizeof(link) - 1) > 0);
	EXPECT(!strcmp(strrchr(link, '/'), "/51713"));
	memset(link, 0, sizeof(link));
	EXPECT(readlink("/sys/bus/pci/devices/" FUNCTION "/driver", link, sizeof(link) - 1) > 0);
	EXPECT(!strcmp(strrchr(link, '/'), "/vfio-pci"));
	EXPECT(stat(GROUP, &status) == 0 && S_ISCHR(status.st_mode));
	EXPECT(stat("/dev/vfio/vfio", &status) == 0 && S_ISCHR(status.st_mode) && minor(status.st_rdev) == 196);
	/* The device that the kernel drives is in no group of VFIO's. */
	FAILS(readlink("/sys/bus/pci/devices/ca00:01:00.0/iommu_group", link, sizeof(link)), ENOENT);
	FAILS(stat("/dev/vfio/51712", &status), ENOENT);
	FAILS(open("/dev/vfio/51712", O_RDWR), ENOENT);
}

static void containers_and_groups_come_in_order(void)
{
	struct vfio_group_status status = { .argsz = sizeof(status) };
	struct vfio_iommu_type1_info info = { .argsz = sizeof(info) };
	EXPECT((container = open("/dev/vfio/vfio", O_RDWR)) >= 0);
	int other = open("/dev/vfio/vfio", O_RDWR);
	EXPECT(ioctl(container, VFIO_GET_API_VERSION) == VFIO_API_VERSION);
	EXPECT(ioctl(container, VFIO_CHECK_EXTENSION, VFIO_TYPE1v2_IOMMU) == 1);
	EXPECT(ioctl(container, VFIO_CHECK_EXTENSION, VFIO_NOIOMMU_IOMMU) == 0);
	FAILS(ioctl(container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU), EINVAL);
	FAILS(ioctl(container, VFIO_IOMMU_GET_INFO, &info), EINVAL);

	EXPECT((group = open(GROUP, O_RDWR)) >= 0);
	FAILS(open(GROUP, O_RDWR), EBUSY);
	EXPECT(ioctl(group, VFIO_GROUP_GET_STATUS, &status) == 0 && status.flags == VFIO_GROUP_FLAGS_VIABLE);
	FAILS(ioctl(group, VFIO_GROUP_GET_DEVICE_FD, FUNCTION), EINVAL);
	FAILS(ioctl(group, VFIO_GROUP_UNSET_CONTAINER), EINVAL);
	int none = -1, null = open("/dev/null", O_RDWR);
	FAILS(ioctl(group, VFIO_GROUP_SET_CONTAINER, &none), EBADF);
	FAILS(ioctl(group, VFIO_GROUP_SET_CONTAINER, &null), EINVAL);
	FAILS(ioctl(group, VFIO_GROUP_SET_CONTAINER, &group), EINVAL);
	FAILS(ioctl(group, VFIO_GROUP_SET_CONTAINER, 8), EFAULT);
	close(null);
	EXPECT(ioctl(group, VFIO_GROUP_SET_CONTAINER, &container) == 0);
	FAILS(ioctl(group, VFIO_GROUP_SET_CONTAINER, &other), EINVAL);
	EXPECT(ioctl(group, VFIO_GROUP_GET_STATUS, &status) == 0);
	EXPECT(status.flags == (VFIO_GROUP_FLAGS_VIABLE | VFIO_GROUP_FLAGS_CONTAINER_SET));
	FAILS(ioctl(group, VFIO_GROUP_GET_DEVICE_FD, FUNCTION), EINVAL);
	FAILS(ioctl(container, VFIO_SET_IOMMU, VFIO_NOIOMMU_IOMMU), ENODEV);
	EXPECT(ioctl(container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU) == 0);
	FAILS(ioctl(container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU), EINVAL);
	FAILS(ioctl(group, VFIO_GROUP_GET_DEVICE_FD, "ca00:01:00.0"), ENODEV);
	FAILS(ioctl(group, VFIO_GROUP_GET_DEVICE_FD, "ca00"), ENODEV);
	FAILS(ioctl(group, VFIO_GROUP_GET_DEVICE_FD, FUNCTION "0"), ENODEV);
	FAILS(ioctl(group, VFIO_GROUP_GET_DEVICE_FD, 8), EFAULT);
	EXPECT((function = ioctl(group, VFIO_GROUP_GET_DEVICE_FD, FUNCTION)) >= 0);
	EXPECT(fcntl(function, F_GETFD) == FD_CLOEXEC);
	FAILS(ioctl(group, VFIO_GROUP_UNSET_CONTAINER), EBUSY);
	FAILS(ioctl(function, VFIO_GROUP_GET_STATUS, &status), ENOTTY);
	FAILS(ioctl(group, VFIO_DEVICE_RESET), ENOTTY);
	status.argsz = sizeof(status) - 1;
	FAILS(ioctl(group, VFIO_GROUP_GET_STATUS, &status), EINVAL);

	/* A duplicate is the same function, open until the last is closed. So is the group. */
	int again = dup(function);
	struct vfio_device_info device = { .argsz = sizeof(device) };
	EXPECT(close(function) == 0 && close(group) == 0);
	EXPECT(ioctl(again, VFIO_DEVICE_GET_INFO, &device) == 0);
	FAILS(open(GROUP, O_RDWR), EBUSY);
	EXPECT(close(again) == 0);
	EXPECT((group = open(GROUP, O_RDWR)) >= 0);
	EXPECT(ioctl(group, VFIO_GROUP_SET_CONTAINER, &other) == 0);
	EXPECT(ioctl(group, VFIO_GROUP_UNSET_CONTAINER) == 0);
	EXPECT(close(group) == 0 && close(container) == 0 && close(other) == 0);
}

static void the_function_describes_itself(void)
{
	open_function();
	struct vfio_device_info device = { .argsz = sizeof(device) };
	EXPECT(ioctl(function, VFIO_DEVICE_GET_INFO, &device) == 0);
	EXPECT(device.flags == (VFIO_DEVICE_FLAGS_PCI | VFIO_DEVICE_FLAGS_RESET));
	EXPECT(device.num_regions == VFIO_PCI_NUM_REGIONS && device.num_irqs == VFIO_PCI_NUM_IRQS);
	device.argsz = 15;
	FAILS(ioctl(function, VFIO_DEVICE_GET_INFO, &device), EINVAL);
	FAILS(ioctl(function, VFIO_DEVICE_GET_INFO, 8), EFAULT);

	struct {
		struct vfio_region_info info;
		struct vfio_info_cap_header capability;
	} bar = { .info = { .argsz = sizeof(bar.info), .index = VFIO_PCI_BAR0_REGION_INDEX } };
	EXPECT(ioctl(function, VFIO_DEVICE_GET_REGION_INFO, &bar.info) == 0);
	EXPECT(bar.info.argsz == sizeof(bar) && bar.info.cap_offset == 0 && bar.info.flags & VFIO_REGION_INFO_FLAG_CAPS);
	EXPECT(ioctl(function, VFIO_DEVICE_GET_REGION_INFO, &bar.info) == 0);
	EXPECT(bar.info.cap_offset == sizeof(bar.info) && bar.capability.id == VFIO_REGION_INFO_CAP_MSIX_MAPPABLE);
	EXPECT(bar.info.size == 1 << 25 && bar.info.flags & VFIO_REGION_INFO_FLAG_MMAP);
	struct vfio_region_info config = { .argsz = sizeof(config), .index = VFIO_PCI_CONFIG_REGION_INDEX };
	EXPECT(ioctl(function, VFIO_DEVICE_GET_REGION_INFO, &config) == 0 && config.size == 4096);
	for (unsigned index = VFIO_PCI_BAR1_REGION_INDEX; index <= VFIO_PCI_ROM_REGION_INDEX; index++) {
		struct vfio_region_info none = { .argsz = sizeof(none), .index = index };
		EXPECT(ioctl(function, VFIO_DEVICE_GET_REGION_INFO, &none) == 0 && none.size == 0);
	}
	struct vfio_region_info vga = { .argsz = sizeof(vga), .index = VFIO_PCI_VGA_REGION_INDEX };
	FAILS(ioctl(function, VFIO_DEVICE_GET_REGION_INFO, &vga), EINVAL);
	vga = (struct vfio_region_info){ .argsz = sizeof(vga), .index = ~0u };
	FAILS(ioctl(function, VFIO_DEVICE_GET_REGION_INFO, &vga), EINVAL);
	vga = (struct vfio_region_info){ .argsz = sizeof(vga) - 1 };
	FAILS(ioctl(function, VFIO_DEVICE_GET_REGION_INFO, &vga), EINVAL);

	/* The configuration space: of Mellanox' making, decoding its memory, and not a master of the bus before it is told to. */
	uint16_t word = 0;
	EXPECT(pread(function, &word, 2, config.offset) == 2 && word == 0x15b3);
	EXPECT(pread(function, &word, 2, config.offset + 4) == 2 && (word & 6) == 2);
	word = 6;
	EXPECT(pwrite(function, &word, 2, config.offset + 4) == 2);
	word = 0;
	EXPECT(pread(function, &word, 2, config.offset + 4) == 2 && (word & 6) == 6);
	static char all[2 * 4096];
	EXPECT(pread(function, all, sizeof(all), config.offset) == 4096);
	EXPECT(pread(function, all, 1, config.offset + 4096) == 0);
	FAILS(pread(function, all, 1, config.offset + 4097), EINVAL);
	FAILS(pread(function, all, 1, vga.offset + (9ull << 40)), EINVAL);
	FAILS(pread(function, all, 1, -1), EINVAL);
	FAILS(pread(function, nowhere, 4, config.offset), EFAULT);
	FAILS(pwrite(function, nowhere, 4, config.offset), EFAULT);
	FAILS(pread(function, all, 1, 1ull << 40), EINVAL);
	/* Registers can be read so, too; the table of interrupts is the kernel's. */
	uint32_t revision = 0, table = 0;
	EXPECT(pread(function, &revision, 4, 4) == 4 && be32toh(revision) >> 16 == 5);
	EXPECT(pread(function, &table, 4, TABLE) == 4 && table == ~0u);

	/* A reset leaves the configuration space as it is. */
	EXPECT(ioctl(function, VFIO_DEVICE_RESET) == 0);
	EXPECT(pread(function, &word, 2, config.offset + 4) == 2 && (word & 6) == 6);
	close_function();
	open_function();
	EXPECT(pread(function, &word, 2, config.offset + 4) == 2 && (word & 6) == 2);
	close_function();
}

static void memory_is_mapped_as_the_iommu_permits(void)
{
	open_function();
	struct {
		struct vfio_iommu_type1_info info;
		char more[256];
	} iommu = { .info = { .argsz = sizeof(iommu.info) } };
	EXPECT(ioctl(container, VFIO_IOMMU_GET_INFO, &iommu.info) == 0);
	EXPECT(iommu.info.argsz > sizeof(iommu.info) && iommu.info.argsz <= sizeof(iommu) && iommu.info.cap_offset == 0);
	EXPECT(iommu.info.iova_pgsizes & PAGE);
	EXPECT(ioctl(container, VFIO_IOMMU_GET_INFO, &iommu.info) == 0 && iommu.info.cap_offset != 0);
	unsigned ranges = 0, available = 0;
	for (unsigned at = iommu.info.cap_offset; at;) {
		struct vfio_info_cap_header *header = (void *)((char *)&iommu + at);
		if (header->id == VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE)
			ranges = ((struct vfio_iommu_type1_info_cap_iova_range *)header)->nr_iovas;
		if (header->id == VFIO_IOMMU_TYPE1_INFO_DMA_AVAIL)
			available = ((struct vfio_iommu_type1_info_dma_avail *)header)->avail;
		at = header->next;
	}
	EXPECT(ranges == 2 && available == 65535);
	iommu.info.argsz = 15;
	FAILS(ioctl(container, VFIO_IOMMU_GET_INFO, &iommu.info), EINVAL);

	char *pages = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct vfio_iommu_type1_dma_map map = { .argsz = sizeof(map), .flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE,
		.vaddr = (uintptr_t)pages, .iova = 1 << 20, .size = 2 * PAGE };
	struct vfio_iommu_type1_dma_map other = map;
	EXPECT(ioctl(container, VFIO_IOMMU_MAP_DMA, &map) == 0);
	FAILS(ioctl(container, VFIO_IOMMU_MAP_DMA, &map), EEXIST);
	other.argsz--;
	FAILS(ioctl(container, VFIO_IOMMU_MAP_DMA, &other), EINVAL);
	other = map, other.iova = 2 << 20, other.flags = 0;
	FAILS(ioctl(container, VFIO_IOMMU_MAP_DMA, &other), EINVAL);
	other.flags = 1 << 5 | map.flags;
	FAILS(ioctl(container, VFIO_IOMMU_MAP_DMA, &other), EINVAL);
	other.flags = map.flags, other.size = 0;
	FAILS(ioctl(container, VFIO_IOMMU_MAP_DMA, &other), EINVAL);
	other.size = PAGE, other.vaddr = 0;
	FAILS(ioctl(container, VFIO_IOMMU_MAP_DMA, &other), EFAULT);
	other.vaddr = (uintptr_t)"constant" & -PAGE;
	FAILS(ioctl(container, VFIO_IOMMU_MAP_DMA, &other), EFAULT);
	other.vaddr = map.vaddr, other.iova = 0xfee00000;
	FAILS(ioctl(container, VFIO_IOMMU_MAP_DMA, &other), EINVAL);
	FAILS(ioctl(container, VFIO_IOMMU_MAP_DMA, 8), EFAULT);

	struct vfio_iommu_type1_dma_unmap unmap = { .argsz = sizeof(unmap), .iova = map.iova, .size = PAGE };
	FAILS(ioctl(container, VFIO_IOMMU_UNMAP_DMA, &unmap), EINVAL);
	unmap.size = 0;
	FAILS(ioctl(container, VFIO_IOMMU_UNMAP_DMA, &unmap), EINVAL);
	unmap.size = 2 * PAGE, unmap.flags = VFIO_DMA_UNMAP_FLAG_GET_DIRTY_BITMAP;
	FAILS(ioctl(container, VFIO_IOMMU_UNMAP_DMA, &unmap), EINVAL);
	unmap.flags = 0, unmap.argsz--;
	FAILS(ioctl(container, VFIO_IOMMU_UNMAP_DMA, &unmap), EINVAL);
	unmap.argsz++, unmap.iova = 0, unmap.size = 1 << 30;
	EXPECT(ioctl(container, VFIO_IOMMU_UNMAP_DMA, &unmap) == 0 && unmap.size == 2 * PAGE);
	EXPECT(ioctl(container, VFIO_IOMMU_UNMAP_DMA, &unmap) == 0 && unmap.size == 0);
	EXPECT(ioctl(container, VFIO_IOMMU_MAP_DMA, &map) == 0);
	unmap = (struct vfio_iommu_type1_dma_unmap){ .argsz = sizeof(unmap), .flags = VFIO_DMA_UNMAP_FLAG_ALL };
	EXPECT(ioctl(container, VFIO_IOMMU_UNMAP_DMA, &unmap) == 0 && unmap.size == 2 * PAGE);
	FAILS(ioctl(container, VFIO_IOMMU_ENABLE), ENOTTY);
	munmap(pages, 4 * PAGE);
	close_function();
}

static int set_irqs(unsigned flags, unsigned start, unsigned count, int fd, unsigned bytes)
{
	char buffer[sizeof(struct vfio_irq_set) + 32 * sizeof(int)];
	struct vfio_irq_set *set = (void *)buffer;
	*set = (struct vfio_irq_set){ .argsz = sizeof(*set) + bytes, .flags = flags | VFIO_IRQ_SET_ACTION_TRIGGER,
		.index = VFIO_PCI_MSIX_IRQ_INDEX, .start = start, .count = count };
	for (unsigned vector = 0; vector < 32; vector++)
		memcpy(set->data + vector * sizeof(int), &fd, sizeof(int));
	return ioctl(function, VFIO_DEVICE_SET_IRQS, set);
}

static void interrupts_tell_event_files(void)
{
	open_function();
	struct vfio_irq_info info = { .argsz = sizeof(info), .index = VFIO_PCI_MSIX_IRQ_INDEX };
	EXPECT(ioctl(function, VFIO_DEVICE_GET_IRQ_INFO, &info) == 0 && info.count == 32);
	EXPECT(info.flags & VFIO_IRQ_INFO_EVENTFD);
	info.index = VFIO_PCI_INTX_IRQ_INDEX;
	EXPECT(ioctl(function, VFIO_DEVICE_GET_IRQ_INFO, &info) == 0 && info.count == 0);
	info.index = VFIO_PCI_NUM_IRQS;
	FAILS(ioctl(function, VFIO_DEVICE_GET_IRQ_INFO, &info), EINVAL);
	int event = eventfd(0, EFD_NONBLOCK);
	uint64_t count = 0;
	FAILS(set_irqs(VFIO_IRQ_SET_DATA_NONE, 0, 1, -1, 0), EINVAL);
	EXPECT(set_irqs(VFIO_IRQ_SET_DATA_EVENTFD, 0, 32, event, 32 * sizeof(int)) == 0);
	EXPECT(set_irqs(VFIO_IRQ_SET_DATA_NONE, 3, 4, -1, 0) == 0);
	EXPECT(read(event, &count, 8) == 8 && count == 4);
	FAILS(set_irqs(VFIO_IRQ_SET_DATA_EVENTFD, 1, 32, event, 32 * sizeof(int)), EINVAL);
	FAILS(set_irqs(VFIO_IRQ_SET_DATA_EVENTFD, 0, ~0u, event, 32 * sizeof(int)), EINVAL);
	FAILS(set_irqs(VFIO_IRQ_SET_DATA_EVENTFD, 0, 2, event, sizeof(int)), EINVAL);
	FAILS(set_irqs(VFIO_IRQ_SET_DATA_EVENTFD, 0, 1, 0, sizeof(int)), EINVAL);
	EXPECT(set_irqs(VFIO_IRQ_SET_DATA_NONE, 0, 0, -1, 0) == 0);
	FAILS(set_irqs(VFIO_IRQ_SET_DATA_NONE, 3, 1, -1, 0), EINVAL);
	close(event);
	close_function();
}

static volatile char *bar;

static uint32_t reg(unsigned at)
{
	return be32toh(*(volatile uint32_t *)(bar + at));
}

static void set_reg(unsigned at, uint32_t value)
{
	*(volatile uint32_t *)(bar + at) = htobe32(value);
}

static char *map_bar(int protection, size_t bytes, off_t at)
{
	return mmap(NULL, bytes, protection, MAP_SHARED, function, at);
}

static sig_atomic_t faulted;
static sigjmp_buf *back;

static void on_fault(int signal)
{
	(void)signal;
	faulted++;
	siglongjmp(*back, 1);
}

/* A page of commands at this address, which need not be there. */
static void place_queue(uint64_t iova)
{
	set_reg(QUEUE_HIGH, iova >> 32);
	set_reg(QUEUE_LOW, iova);
}

static void *store_and_look(void *argument)
{
	volatile char *own = argument;
	for (uint32_t round = 0; round < 500; round++) {
		/* Nothing comes of it; but each is the function's business before the thread goes on. */
		*(volatile uint64_t *)(own + PENDING) = round;
		EXPECT(be32toh(*(volatile uint32_t *)own) != ~0u);
	}
	return NULL;
}

static void registers_are_live_memory(void)
{
	open_function();
	size_t bytes = 1 << 25;
	bar = map_bar(PROT_READ | PROT_WRITE, bytes, 0);
	EXPECT(bar != MAP_FAILED);
	EXPECT(reg(4) >> 16 == 5);
	for (int tries = 0; tries < 1000 && reg(INITIALIZING) >> 31; tries++)
		usleep(1000);
	EXPECT(reg(INITIALIZING) >> 31 == 0);
	uint32_t timer = reg(TIMER), counter = reg(HEALTH_COUNTER);
	usleep(100000);
	EXPECT(reg(TIMER) != timer && reg(HEALTH_COUNTER) != counter);
	/* What is stored is there for the next load, by whatever mapping. */
	volatile char *second = map_bar(PROT_READ | PROT_WRITE, PAGE, 0), *first = bar;
	place_queue(0x123456789000);
	EXPECT(reg(QUEUE_HIGH) == 0x1234 && (reg(QUEUE_LOW) & 0xfffff000) == 0x56789000);
	bar = second;
	place_queue(0xa000);
	bar = first;
	EXPECT(reg(QUEUE_HIGH) == 0 && (reg(QUEUE_LOW) & 0xfffff000) == 0xa000);
	/* Commands that are nowhere, and a master of no bus. */
	set_reg(COMMANDS, 1);
	usleep(10000);

	pthread_t threads[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, store_and_look, (void *)bar);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	/* All of a line at once, and a byte. */
	static char line[64];
	memcpy((void *)(bar + BLUEFLAME), line, sizeof(line));
	*(bar + BLUEFLAME + 3) = 7;
	/* In the table of interrupts, which is not the program's. */
	*(volatile uint32_t *)(bar + TABLE) = 1;

	/* What is no plain store is left out, and nothing else happens. */
	__atomic_fetch_add((uint32_t *)(bar + QUEUE_HIGH), 1, __ATOMIC_SEQ_CST);
	EXPECT(reg(QUEUE_HIGH) == 0);

	/* The child of a fork loads what there is. A store is its fault: nobody would get it. */
	for (int stores = 0; stores < 2; stores++) {
		pid_t child = fork();
		if (child == 0) {
			/* What it is told is looked at elsewhere. */
			close(STDERR_FILENO);
			if (stores)
				set_reg(QUEUE_HIGH, 0x77);
			_exit(reg(QUEUE_HIGH));
		}
		int status = -1;
		EXPECT(waitpid(child, &status, 0) == child);
		EXPECT(stores ? WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV : status == 0);
	}
	EXPECT(reg(QUEUE_HIGH) == 0);

	/* Parts of a mapping go; what is left is the function's, and what is gone is the program's fault. */
	sigjmp_buf here;
	back = &here;
	struct sigaction action = { .sa_handler = on_fault }, before;
	EXPECT(sigaction(SIGSEGV, &action, &before) == 0);
	EXPECT(munmap((void *)(bar + 4 * PAGE), bytes - 4 * PAGE) == 0);
	EXPECT(munmap((void *)(bar + PAGE), PAGE) == 0);
	place_queue(0x5000);
	EXPECT((reg(QUEUE_LOW) & 0xfffff000) == 0x5000);
	static const unsigned gone[] = { PAGE, 5 * PAGE, BLUEFLAME };
	for (int i = 0; i < 3; i++)
		if (!sigsetjmp(here, 1))
			set_reg(gone[i], 1);
	EXPECT(faulted == 3);
	volatile char *read_only = map_bar(PROT_READ, PAGE, 0);
	EXPECT(read_only != MAP_FAILED);
	if (!sigsetjmp(here, 1))
		*(volatile uint32_t *)(read_only + QUEUE_HIGH) = 1;
	EXPECT(faulted == 4);
	EXPECT(sigaction(SIGSEGV, &before, NULL) == 0);
	munmap((void *)bar, PAGE);
	munmap((void *)(bar + 2 * PAGE), 2 * PAGE);
	munmap((void *)read_only, PAGE);
	munmap((void *)second, PAGE);

	FAILS(map_bar(PROT_READ, PAGE, bytes), EINVAL);
	FAILS(map_bar(PROT_READ, bytes + 1, 0), EINVAL);
	FAILS(map_bar(PROT_READ, ~0ul, 0), EINVAL);
	FAILS(map_bar(PROT_READ, PAGE, (off_t)VFIO_PCI_CONFIG_REGION_INDEX << 40), EINVAL);
	FAILS(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, function, 0), EINVAL);
	FAILS(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, group, 0), ENODEV);
	/* Who asks the kernel himself may look, but cannot store past us. */
	FAILS(syscall(SYS_mmap, NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, function, 0), EPERM);
	close_function();
}

static int run_queue(char *queue, uint64_t iova)
{
	place_queue(iova);
	/* ENABLE_HCA, 12 bytes in and out, in slot 0. */
	memset(queue, 0, 64);
	queue[0] = 7;
	queue[7] = 12;
	queue[16] = 1;
	queue[17] = 4;
	queue[59] = 12;
	*(volatile char *)(queue + 63) = 1;
	set_reg(COMMANDS, 1);
	for (int tries = 0; tries < 300; tries++) {
		if (!(*(volatile char *)(queue + 63) & 1))
			return 1;
		usleep(1000);
	}
	return 0;
}

/* Commands are carried out in memory that is mapped for the function, as long as it is, and as it is. */
static void memory_that_goes_is_no_end(void)
{
	open_function();
	struct vfio_region_info config = { .argsz = sizeof(config), .index = VFIO_PCI_CONFIG_REGION_INDEX };
	EXPECT(ioctl(function, VFIO_DEVICE_GET_REGION_INFO, &config) == 0);
	uint16_t master = 6;
	EXPECT(pwrite(function, &master, 2, config.offset + 4) == 2);
	bar = map_bar(PROT_READ | PROT_WRITE, 2 * PAGE, 0);
	char *queue = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct vfio_iommu_type1_dma_map map = { .argsz = sizeof(map), .flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE,
		.vaddr = (uintptr_t)queue, .iova = 1 << 20, .size = PAGE };
	EXPECT(!run_queue(queue, map.iova));
	EXPECT(ioctl(container, VFIO_IOMMU_MAP_DMA, &map) == 0);
	EXPECT(run_queue(queue, map.iova));
	EXPECT(!run_queue(queue, map.iova + PAGE));
	/* The program takes the memory away. */
	munmap(queue, PAGE);
	set_reg(COMMANDS, ~0u);
	usleep(20000);
	char *again = mmap(queue, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	EXPECT(run_queue(again, map.iova));
	/* It can be read only. */
	mprotect(again, PAGE, PROT_READ);
	set_reg(COMMANDS, ~0u);
	usleep(20000);
	mprotect(again, PAGE, PROT_READ | PROT_WRITE);
	/* A file that is cut short. */
	int file = memfd_create("short", 0);
	EXPECT(ftruncate(file, PAGE) == 0);
	EXPECT(mmap(queue, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == queue);
	EXPECT(run_queue(queue, map.iova));
	EXPECT(ftruncate(file, 0) == 0);
	set_reg(COMMANDS, ~0u);
	usleep(20000);
	close(file);
	mmap(queue, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	EXPECT(run_queue(queue, map.iova));
	struct vfio_iommu_type1_dma_unmap unmap = { .argsz = sizeof(unmap), .iova = map.iova, .size = PAGE };
	EXPECT(ioctl(container, VFIO_IOMMU_UNMAP_DMA, &unmap) == 0);
	EXPECT(!run_queue(queue, map.iova));
	/* A mapping that outlives the file has a function that is reset. */
	close_function();
	place_queue(map.iova);
	set_reg(COMMANDS, 1);
	EXPECT(munmap((void *)bar, 2 * PAGE) == 0);
	munmap(queue, PAGE);
}

int main(void)
{
	files_are_where_drivers_look();
	containers_and_groups_come_in_order();
	the_function_describes_itself();
	memory_is_mapped_as_the_iommu_permits();
	interrupts_tell_event_files();
	registers_are_live_memory();
	memory_that_goes_is_no_end();
	return failures != 0;
}
