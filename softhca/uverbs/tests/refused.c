/*
 * Commands that are refused because the program has asked for that, and what a program can ask its devices about themselves.
 */
#include "devx.h"

static void (*refuse)(unsigned long long, int);
static int (*refuse_mailbox)(unsigned long long, unsigned short, unsigned char);
static unsigned (*carried_out)(unsigned short);
static ssize_t (*objects)(int, char *, size_t);

/* How many objects of a kind there are. */
static unsigned count(const char *kind)
{
	char text[512];
	EXPECT(objects(0, text, sizeof(text)) == (ssize_t)strlen(text));
	for (char *word = strtok(text, ","); word; word = strtok(NULL, ",")) {
		char *equals = NEED(strchr(word, '='));
		*equals = 0;
		if (strcmp(word, kind) == 0)
			return atoi(equals + 1);
	}
	return 0;
}

int main(void)
{
	start();
	refuse = NEED((void (*)(unsigned long long, int))dlsym(RTLD_DEFAULT, "softhca_refuse"));
	refuse_mailbox = NEED(
		(int (*)(unsigned long long, unsigned short, unsigned char))dlsym(RTLD_DEFAULT, "softhca_refuse_mailbox"));
	carried_out = NEED((unsigned (*)(unsigned short))dlsym(RTLD_DEFAULT, "softhca_carried_out"));
	objects = NEED((ssize_t (*)(int, char *, size_t))dlsym(RTLD_DEFAULT, "softhca_objects"));

	/* The second command, whatever it is, and not the third. */
	unsigned domains = count("PD");
	refuse(2, ENOSPC);
	struct ibv_pd *first = NEED(ibv_alloc_pd(context));
	errno = 0;
	EXPECT(ibv_alloc_pd(context) == NULL && errno == ENOSPC);
	struct ibv_pd *third = NEED(ibv_alloc_pd(context));
	EXPECT(count("PD") == domains + 2);
	EXPECT(ibv_dealloc_pd(first) == 0 && ibv_dealloc_pd(third) == 0);
	EXPECT(count("PD") == domains);
	refuse(1, ENOSPC);
	refuse(0, 0);
	EXPECT(ibv_dealloc_pd(NEED(ibv_alloc_pd(context))) == 0);

	/* A mailbox: the firmware's answer is the program's. */
	enum { NO_RESOURCES = 0x0f, UNKNOWN_STATUS = 0x33 };
	unsigned done = carried_out(ALLOC_PD), number;
	EXPECT(refuse_mailbox(1, ALLOC_PD, UNKNOWN_STATUS) == -1 && errno == EINVAL);
	EXPECT(refuse_mailbox(1, ALLOC_PD, 0) == -1 && errno == EINVAL);
	EXPECT(refuse_mailbox(1, ALLOC_PD, NO_RESOURCES) == 0);
	uint8_t in[16] = {}, out[16] = {};
	set(in, OPCODE, NOP);
	mlx5dv_devx_general_cmd(context, in, sizeof(in), out, sizeof(out));
	set(in, OPCODE, ALLOC_PD);
	errno = 0;
	EXPECT(mlx5dv_devx_obj_create(context, in, sizeof(in), out, sizeof(out)) == NULL && errno == EREMOTEIO);
	EXPECT(get(out, STATUS) == NO_RESOURCES && get(out, SYNDROME) != 0 && count("PD") == domains);
	EXPECT(carried_out(ALLOC_PD) == done);
	struct mlx5dv_devx_obj *made = NEED(alloc_pd(context, &number));
	EXPECT(carried_out(ALLOC_PD) == done + 1 && count("PD") == domains + 1);
	EXPECT(mlx5dv_devx_obj_destroy(made) == 0 && count("PD") == domains);

	/* Memory is registered by a mailbox of the kernel's. */
	EXPECT(refuse_mailbox(1, 0, NO_RESOURCES) == 0);
	EXPECT(mlx5dv_devx_umem_reg(context, out, sizeof(out), 0) == NULL);
	struct mlx5dv_devx_umem *umem = NEED(mlx5dv_devx_umem_reg(context, out, sizeof(out), 0));
	EXPECT(count("UMEM") == 1 && mlx5dv_devx_umem_dereg(umem) == 0 && count("UMEM") == 0);

	/* Little room, and no such device. */
	char little[4] = "???";
	EXPECT(objects(0, little, sizeof(little)) > 3 && strlen(little) == 3 && strchr(little, '?') == NULL);
	EXPECT(objects(0, NULL, 0) > 3);
	EXPECT(objects(7, little, sizeof(little)) == -1 && errno == ENODEV);
	return finish();
}
