/* What the tests of MPI start: mpi_check MODE [NUMBER]
 *   hello      prints rank, size and the number of ranks on the same node
 *   allreduce  adds 1 + rank over all ranks, NUMBER times
 *   ring       sends a number around all ranks
 *   abort      rank 1 calls MPI_Abort with the code NUMBER, the others wait for it
 *   die        rank 1 kills itself in the middle of allreduces, the others go on
 *   leave      rank 1 exits with the code NUMBER without MPI_Finalize, the others go on
 *   spawn      asks for another process
 *   late       rank 1 does not come to MPI_Init, where the others wait for it */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static void hello(void) {
    MPI_Comm node;
    int local = 0;
    char host[256] = "";
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &local);
    gethostname(host, sizeof host - 1);
    printf("rank %d of %d, %d on this node\n", rank, size, local);
}

static int sum_of_ranks(void) {
    int mine = rank + 1, sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

static void ring(void) {
    int token = 0;
    if (size == 1) return;
    if (rank > 0) MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    token += rank;
    MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
    if (rank > 0) return;
    MPI_Recv(&token, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("ring %d\n", token);
}

static void spawn(void) {
    MPI_Comm others;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int failed = MPI_Comm_spawn("true", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &others,
                                MPI_ERRCODES_IGNORE);
    if (rank == 0) printf("spawn %s\n", failed ? "refused" : "done");
    if (failed) exit(3);
}

int main(int argc, char** argv) {
    const char* mode = argc > 1 ? argv[1] : "hello";
    int number = argc > 2 ? atoi(argv[2]) : 1, sum = 0;
    const char* task = getenv("SLURM_PROCID");
    if (!strcmp(mode, "late") && task && !strcmp(task, "1")) sleep(1000);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(mode, "hello")) hello();
    if (!strcmp(mode, "ring")) ring();
    if (!strcmp(mode, "spawn")) spawn();
    if (!strcmp(mode, "allreduce")) {
        for (int i = 0; i < number; ++i) sum = sum_of_ranks();
        printf("sum %d\n", sum);
    }
    if (!strcmp(mode, "abort") || !strcmp(mode, "die") || !strcmp(mode, "leave")) {
        sum_of_ranks();
        if (rank == 0) printf("started\n"), fflush(stdout);
        if (rank == 1 && !strcmp(mode, "abort")) MPI_Abort(MPI_COMM_WORLD, number);
        if (rank == 1 && !strcmp(mode, "die")) kill(getpid(), SIGKILL);
        if (rank == 1 && !strcmp(mode, "leave")) _exit(number);
        for (;;) sum_of_ranks();
    }
    MPI_Finalize();
    return 0;
}
