/*
 * One command of a program to the kernel, attribute by attribute, for commands that older libraries lack. It belongs after prelude.h,
 * which has the context.
 */
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/ioctl.h>

static struct {
	struct ib_uverbs_ioctl_hdr header;
	struct ib_uverbs_attr attrs[12];
} command;

static void begin(int object, int method)
{
	memset(&command, 0, sizeof(command));
	command.header.object_id = object;
	command.header.method_id = method;
	command.header.driver_id = RDMA_DRIVER_MLX5;
}

static struct ib_uverbs_attr *attr(int id, int len, uint64_t data)
{
	struct ib_uverbs_attr *added = &command.attrs[command.header.num_attrs++];
	*added = (struct ib_uverbs_attr){ .attr_id = id, .len = len, .flags = UVERBS_ATTR_F_MANDATORY, .data = data };
	return added;
}

/* The errno of the command. */
static int give(void)
{
	command.header.length = sizeof(command.header) + command.header.num_attrs * sizeof(command.attrs[0]);
	return ioctl(context->cmd_fd, RDMA_VERBS_IOCTL, &command) == 0 ? 0 : errno;
}
