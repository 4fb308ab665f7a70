/* Stand-ins for librocm_smi64.so and libze_loader.so, for tests only: two GPUs each, at the PCI addresses
 * 0001:02:03.0 and 0001:02:04.0 (AMD), 0000:03:00.0 and 0000:04:00.0 (Intel; between them is something that is no GPU). */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int rsmi_init(uint64_t flags) { return flags == 0 ? 0 : 1; }
int rsmi_shut_down(void) { return 0; }
int rsmi_num_monitor_devices(uint32_t* count) {
    *count = 2;
    return 0;
}
int rsmi_dev_name_get(uint32_t device, char* name, size_t size) {
    if (device > 1) return 1;
    snprintf(name, size, "Instinct MI250");
    return 0;
}
int rsmi_dev_pci_id_get(uint32_t device, uint64_t* id) {
    *id = (uint64_t)1 << 32 | 2 << 8 | (3 + device) << 3;
    return device > 1;
}

struct DeviceProperties {
    uint32_t kind;
    void* next;
    uint32_t type, numbers[5];
    uint64_t most;
    uint32_t more[7];
    uint64_t timer;
    uint32_t bits[2];
    uint8_t uuid[16];
    char name[256];
};
struct PciProperties {
    uint32_t kind;
    void* next;
    uint32_t domain, bus, device, function;
    int32_t generation, width;
    int64_t bandwidth;
};
static int driver, devices[3];

int zeInit(uint32_t flags) { return flags == 0 ? 0 : 1; }
int zeDriverGet(uint32_t* count, void** drivers) {
    if (drivers) drivers[0] = &driver;
    *count = 1;
    return 0;
}
int zeDeviceGet(void* of, uint32_t* count, void** handles) {
    if (of != &driver) return 1;
    for (int i = 0; handles && i < 3; ++i) handles[i] = &devices[i];
    *count = 3;
    return 0;
}
int zeDeviceGetProperties(void* device, struct DeviceProperties* properties) {
    if (properties->kind != 3) return 1;
    properties->type = device == &devices[1] ? 2 : 1;
    strcpy(properties->name, "Intel(R) Data Center GPU Max 1550");
    return 0;
}
int zeDevicePciGetPropertiesExt(void* device, struct PciProperties* properties) {
    if (properties->kind != 0x10008) return 1;
    properties->bus = device == &devices[0] ? 3 : 4;
    return 0;
}
