/* A stand-in for NVIDIA's libnvidia-ml.so.1, for tests only: GPUs with a few clocks, and every call that
 * changes something in a line of nvml.log beside the library. The device file of GPU n is /dev/nvidia<n + 4>.
 * GPUs 0 and 3, 1 and 2 have four NVLinks. With a file "mig" beside the library GPU 0 is split into two.
 * What GPU n does is in the file nvml.gpu<n> beside the library: "percent=90 memory=2048 power=300 temperature=70
 * sm=1400 mem=1593 ecc=0 pids=12,13", memory in MB; what is not named is that of an idle GPU. Each line "GPU XID" that is
 * added to nvml.xids is an error. As long as there is a file "hang" the driver does not answer; with a file "lost<n>" GPU n
 * cannot be read. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libgen.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { GPUS = 4, SUCCESS = 0, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NO_PERMISSION = 4, INSUFFICIENT_SIZE = 7, TIMEOUT = 10, GPU_IS_LOST = 15 };
enum { GRAPHICS = 0, MEMORY = 2 };

struct Gpu {
    unsigned number, memory, graphics;
};
static struct Gpu gpus[GPUS];
static const unsigned memory_clocks[] = {877, 405};
static const unsigned graphics_clocks[] = {1380, 1372, 1005, 607, 135};

static void path_of(char* path, size_t size, const char* name) {
    Dl_info self;
    char library[4096];
    dladdr((void*)path_of, &self);
    strncpy(library, self.dli_fname, sizeof library - 1);
    library[sizeof library - 1] = 0;
    snprintf(path, size, "%s/%s", dirname(library), name);
}

static void note(const char* line) {
    char path[4200];
    path_of(path, sizeof path, "nvml.log");
    FILE* log = fopen(path, "a");
    if (!log) return;
    fprintf(log, "%s\n", line);
    fclose(log);
}

static int is_forbidden(void) {
    char path[4200];
    path_of(path, sizeof path, "forbidden");
    FILE* file = fopen(path, "r");
    if (file) fclose(file);
    return file != NULL;
}

static int copy(const unsigned* from, unsigned length, unsigned* count, unsigned* to) {
    unsigned room = *count;
    *count = length;
    if (room < length) return INSUFFICIENT_SIZE;
    memcpy(to, from, length * sizeof *from);
    return SUCCESS;
}

int nvmlInit_v2(void) {
    for (unsigned i = 0; i < GPUS; ++i) gpus[i] = (struct Gpu){i, 877, 1005};
    return SUCCESS;
}

int nvmlShutdown(void) { return SUCCESS; }

const char* nvmlErrorString(int code) {
    return code == NO_PERMISSION ? "Insufficient Permissions" : code == GPU_IS_LOST ? "GPU is lost" : "Invalid Argument";
}

static int is_lost(unsigned number) {
    char name[32], path[4200];
    snprintf(name, sizeof name, "lost%u", number);
    path_of(path, sizeof path, name);
    return access(path, F_OK) == 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
    if (index >= GPUS) return INVALID_ARGUMENT;
    if (is_lost(index)) return GPU_IS_LOST;
    *device = &gpus[index];
    return SUCCESS;
}

int nvmlDeviceGetCount_v2(unsigned* count) {
    *count = GPUS;
    return SUCCESS;
}

int nvmlDeviceGetName(void* device, char* name, unsigned length) {
    const struct Gpu* gpu = device;
    snprintf(name, length, gpu->number < 2 ? "NVIDIA A40" : "NVIDIA H100 PCIe");
    return SUCCESS;
}

int nvmlDeviceGetMinorNumber(void* device, unsigned* minor) {
    *minor = ((const struct Gpu*)device)->number + GPUS;
    return SUCCESS;
}

int nvmlDeviceGetCpuAffinity(void* device, unsigned length, unsigned long* mask) {
    (void)device;
    memset(mask, 0, length * sizeof *mask);
    mask[0] = 1; /* the first CPU */
    return SUCCESS;
}

struct PciInfo {
    char legacy_id[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char bus_id[32];
};
struct Mig {
    unsigned number, gpu_instance, compute_instance, slices;
    unsigned long long memory;
};
struct Attributes {
    unsigned processors, copy_engines, decoders, encoders, jpeg_decoders, optical_flow, gpu_slices, compute_slices;
    unsigned long long memory;
};
static struct Mig migs[] = {{0, 1, 0, 3, 20096}, {1, 7, 0, 1, 4864}};

static const struct Mig* as_mig(const void* device) {
    for (unsigned i = 0; i < 2; ++i)
        if (device == &migs[i]) return &migs[i];
    return NULL;
}

static int describe_bus(unsigned number, struct PciInfo* pci) {
    memset(pci, 0, sizeof *pci);
    snprintf(pci->bus_id, sizeof pci->bus_id, "00000000:%02X:00.0", number + 1);
    return SUCCESS;
}

int nvmlDeviceGetUUID(void* device, char* uuid, unsigned length) {
    const struct Mig* mig = as_mig(device);
    if (mig)
        snprintf(uuid, length, "MIG-0000-%u", mig->number);
    else
        snprintf(uuid, length, "GPU-0000-%u", ((const struct Gpu*)device)->number);
    return SUCCESS;
}

int nvmlDeviceGetPciInfo_v3(void* device, struct PciInfo* pci) {
    return describe_bus(((const struct Gpu*)device)->number, pci);
}

int nvmlDeviceGetNvLinkState(void* device, unsigned link, int* active) {
    (void)device;
    *active = link < 4;
    return link < 6 ? SUCCESS : INVALID_ARGUMENT;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(void* device, unsigned link, struct PciInfo* pci) {
    (void)link;
    return describe_bus(3 - ((const struct Gpu*)device)->number, pci);
}

int nvmlDeviceGetMigMode(void* device, unsigned* current, unsigned* pending) {
    char path[4200];
    path_of(path, sizeof path, "mig");
    FILE* file = fopen(path, "r");
    if (file) fclose(file);
    *current = *pending = file != NULL && ((const struct Gpu*)device)->number == 0;
    return SUCCESS;
}

int nvmlDeviceGetMaxMigDeviceCount(void* device, unsigned* count) {
    (void)device;
    *count = 7;
    return SUCCESS;
}

int nvmlDeviceGetMigDeviceHandleByIndex(void* device, unsigned index, void** mig) {
    (void)device;
    if (index >= 2) return INVALID_ARGUMENT;
    *mig = &migs[index];
    return SUCCESS;
}

int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void* mig, void** device) {
    if (!as_mig(mig)) return INVALID_ARGUMENT;
    *device = &gpus[0];
    return SUCCESS;
}

int nvmlDeviceGetGpuInstanceId(void* mig, unsigned* id) {
    *id = ((const struct Mig*)mig)->gpu_instance;
    return SUCCESS;
}

int nvmlDeviceGetComputeInstanceId(void* mig, unsigned* id) {
    *id = ((const struct Mig*)mig)->compute_instance;
    return SUCCESS;
}

int nvmlDeviceGetAttributes_v2(void* device, struct Attributes* attributes) {
    const struct Mig* mig = device;
    memset(attributes, 0, sizeof *attributes);
    attributes->gpu_slices = attributes->compute_slices = mig->slices;
    attributes->memory = mig->memory;
    return SUCCESS;
}

int nvmlDeviceGetSupportedMemoryClocks(void* device, unsigned* count, unsigned* clocks) {
    (void)device;
    return copy(memory_clocks, 2, count, clocks);
}

int nvmlDeviceGetSupportedGraphicsClocks(void* device, unsigned memory, unsigned* count, unsigned* clocks) {
    (void)device;
    if (memory == 405) return copy(graphics_clocks + 3, 2, count, clocks); /* slow memory, slow rest */
    return copy(graphics_clocks, 5, count, clocks);
}

int nvmlDeviceGetApplicationsClock(void* device, int type, unsigned* clock) {
    const struct Gpu* gpu = device;
    *clock = type == MEMORY ? gpu->memory : gpu->graphics;
    return type == MEMORY || type == GRAPHICS ? SUCCESS : INVALID_ARGUMENT;
}

int nvmlDeviceSetApplicationsClocks(void* device, unsigned memory, unsigned graphics) {
    struct Gpu* gpu = device;
    char line[128];
    if (is_forbidden()) return NO_PERMISSION;
    gpu->memory = memory;
    gpu->graphics = graphics;
    snprintf(line, sizeof line, "gpu%u memory=%u graphics=%u", gpu->number, memory, graphics);
    note(line);
    return SUCCESS;
}

int nvmlDeviceResetApplicationsClocks(void* device) {
    struct Gpu* gpu = device;
    char line[128];
    gpu->memory = 877;
    gpu->graphics = 1005;
    snprintf(line, sizeof line, "gpu%u reset", gpu->number);
    note(line);
    return SUCCESS;
}

/* ---- what a GPU does now */

static int exists(const char* name) {
    char path[4200];
    path_of(path, sizeof path, name);
    return access(path, F_OK) == 0;
}

/* The value of a key in nvml.gpu<n>, as text; 0: it is not named. */
static int read_value(unsigned number, const char* key, char* value, size_t size) {
    char name[32], path[4200], word[1024];
    size_t length = strlen(key);
    int found = 0;
    while (exists("hang")) usleep(50000);
    snprintf(name, sizeof name, "nvml.gpu%u", number);
    path_of(path, sizeof path, name);
    FILE* file = fopen(path, "r");
    if (!file) return 0;
    while (!found && fscanf(file, "%1023s", word) == 1) {
        found = strncmp(word, key, length) == 0 && word[length] == '=';
        if (found) snprintf(value, size, "%s", word + length + 1);
    }
    fclose(file);
    return found;
}

static unsigned number_of(const void* device) {
    const struct Mig* mig = as_mig(device);
    return mig ? 0 : ((const struct Gpu*)device)->number;
}

static unsigned value_of(const void* device, const char* key, unsigned otherwise) {
    char value[1024];
    return read_value(number_of(device), key, value, sizeof value) ? (unsigned)atoi(value) : otherwise;
}

int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
    unsigned number;
    if (sscanf(uuid, "MIG-0000-%u", &number) == 1 && number < 2) {
        *device = &migs[number];
        return SUCCESS;
    }
    if (sscanf(uuid, "GPU-0000-%u", &number) != 1) return INVALID_ARGUMENT;
    if (is_lost(number)) return GPU_IS_LOST;
    return nvmlDeviceGetHandleByIndex_v2(number, device);
}

struct Utilization {
    unsigned gpu, memory;
};
struct Memory {
    unsigned long long total, free, used;
};

int nvmlDeviceGetUtilizationRates(void* device, struct Utilization* rates) {
    if (as_mig(device)) return NOT_SUPPORTED;
    *rates = (struct Utilization){value_of(device, "percent", 0), 0};
    return SUCCESS;
}

int nvmlDeviceGetMemoryInfo(void* device, struct Memory* memory) {
    memory->total = 49152ull << 20;
    memory->used = (unsigned long long)value_of(device, "memory", 300) << 20;
    memory->free = memory->total - memory->used;
    return SUCCESS;
}

int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
    *milliwatts = value_of(device, "power", 50) * 1000;
    return SUCCESS;
}

int nvmlDeviceGetTemperature(void* device, int sensor, unsigned* celsius) {
    (void)sensor;
    *celsius = value_of(device, "temperature", 35);
    return SUCCESS;
}

int nvmlDeviceGetClockInfo(void* device, int type, unsigned* clock) {
    *clock = type == MEMORY ? value_of(device, "mem", 405) : value_of(device, "sm", 210);
    return SUCCESS;
}

int nvmlDeviceGetTotalEccErrors(void* device, int type, int counter, unsigned long long* errors) {
    (void)type;
    (void)counter;
    *errors = value_of(device, "ecc", 0);
    return SUCCESS;
}

struct EventData {
    void* device;
    unsigned long long type, data;
    unsigned gpu_instance, compute_instance;
};
static long xids_read;

int nvmlEventSetCreate(void** set) {
    *set = &xids_read;
    return SUCCESS;
}

int nvmlEventSetFree(void* set) {
    (void)set;
    return SUCCESS;
}

int nvmlDeviceRegisterEvents(void* device, unsigned long long types, void* set) {
    (void)device;
    (void)set;
    return types == 8 ? SUCCESS : NOT_SUPPORTED;
}

int nvmlEventSetWait_v2(void* set, struct EventData* event, unsigned milliseconds) {
    char path[4200];
    unsigned gpu, xid;
    int code = TIMEOUT;
    (void)set;
    (void)milliseconds;
    path_of(path, sizeof path, "nvml.xids");
    FILE* file = fopen(path, "r");
    if (!file) return TIMEOUT;
    fseek(file, xids_read, SEEK_SET);
    if (fscanf(file, "%u %u\n", &gpu, &xid) == 2 && gpu < GPUS) {
        xids_read = ftell(file);
        *event = (struct EventData){&gpus[gpu], 8, xid, 0, 0};
        code = SUCCESS;
    }
    fclose(file);
    return code;
}

/* Every process whose pid is in nvml.users uses each GPU for 30 percent of the time, and 64 MB of it; those of pids= in
 * nvml.gpu<n> use that GPU. */
struct RunningProcess {
    unsigned pid;
    unsigned long long memory;
    unsigned gpu_instance, compute_instance;
};
struct ProcessSample {
    unsigned pid;
    unsigned long long time;
    unsigned percent, memory_percent, encoder, decoder;
};

static unsigned read_users(const void* device, unsigned* pids, unsigned room) {
    char path[4200], list[1024];
    unsigned count = 0;
    path_of(path, sizeof path, "nvml.users");
    FILE* file = fopen(path, "r");
    if (file) {
        while (count < room && fscanf(file, "%u", &pids[count]) == 1) ++count;
        fclose(file);
    }
    if (!read_value(number_of(device), "pids", list, sizeof list)) return count;
    for (char* word = strtok(list, ","); word && count < room; word = strtok(NULL, ",")) pids[count++] = (unsigned)atoi(word);
    return count;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, struct RunningProcess* found) {
    unsigned pids[16];
    *count = read_users(device, pids, 16);
    for (unsigned i = 0; i < *count; ++i) found[i] = (struct RunningProcess){pids[i], 64ull << 20, 0, 0};
    return SUCCESS;
}

int nvmlDeviceGetProcessUtilization(void* device, struct ProcessSample* found, unsigned* count,
                                    unsigned long long since) {
    unsigned pids[16];
    *count = read_users(device, pids, 16);
    for (unsigned i = 0; i < *count; ++i) found[i] = (struct ProcessSample){pids[i], since, 30, 5, 0, 0};
    return SUCCESS;
}
