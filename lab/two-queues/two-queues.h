/* What the files of the layer share. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>
#include <vulkan/vk_layer.h>

/* The functions in whose place the layer has its own. Those that are core by now have the core's name. */
#define INSTANCE_FUNCTIONS(X) \
    X(DestroyInstance) X(CreateDevice) X(GetPhysicalDeviceQueueFamilyProperties) X(GetPhysicalDeviceQueueFamilyProperties2)
#define DEVICE_FUNCTIONS(X) \
    X(DestroyDevice) X(GetDeviceQueue) X(GetDeviceQueue2) X(DeviceWaitIdle) X(QueueWaitIdle) X(QueueSubmit) X(QueueSubmit2) \
    X(QueueBindSparse) X(SetPrivateData) X(GetPrivateData) X(WaitForFences) X(GetFenceStatus) X(WaitSemaphores) \
    X(GetSemaphoreCounterValue) X(CreateSemaphore) X(CreateCommandPool) X(CreateBuffer) X(CreateImage) X(GetDeviceBufferMemoryRequirements) \
    X(GetDeviceImageMemoryRequirements) X(GetDeviceImageSparseMemoryRequirements) \
    X(CmdPipelineBarrier) X(CmdPipelineBarrier2) X(CmdWaitEvents) X(CmdWaitEvents2) X(CmdSetEvent2)

/* Functions of devices that belong to an extension of instances: the loader asks for them there too, and uses them for all
 * devices. */
#define DEBUG_FUNCTIONS(X) \
    X(QueueBeginDebugUtilsLabelEXT) X(QueueEndDebugUtilsLabelEXT) X(QueueInsertDebugUtilsLabelEXT) \
    X(SetDebugUtilsObjectNameEXT) X(SetDebugUtilsObjectTagEXT)

#define DECLARE(name) __typeof__(*(PFN_vk##name)0) two_##name;
INSTANCE_FUNCTIONS(DECLARE)
DEVICE_FUNCTIONS(DECLARE)
DEBUG_FUNCTIONS(DECLARE)

/* The driver's functions, or those of a layer below. */
#define FIELD(name) PFN_vk##name name;

/* The head of an instance and of a device. All handles of one have the same first word, which is the loader's. */
struct owner {
    struct owner *next;
    void *dispatch;
};

struct instance {
    struct owner owner;
    VkInstance handle;
    PFN_vkGetInstanceProcAddr proc;
    INSTANCE_FUNCTIONS(FIELD)
};

/* A queue of the program. The address of the second one is its handle. */
struct queue {
    void *dispatch;
    struct device *device;
    pthread_t thread;
    /* The first one stays until the driver has it. */
    struct job *first, *last;
};

struct device {
    struct owner owner;
    VkDevice handle;
    /* The driver's queue, whose handle is also that of the program's first one; NULL if the layer leaves the device as it is. */
    VkQueue real;
    struct queue queues[2];
    /* Held for the lists of jobs, and for calls with the driver's queue. */
    pthread_mutex_t jobs, submission;
    pthread_cond_t changed;
    atomic_bool ending;
    _Atomic VkResult failed;
    PFN_vkGetDeviceProcAddr proc;
    DEVICE_FUNCTIONS(FIELD)
    DEBUG_FUNCTIONS(FIELD)
};

/* The instance or the device of a handle. */
void *find(void *handle);
/* Says what is not supported. */
VkResult refuse(const char *what);
/* Zeros if there is nothing to copy. */
void *copy(const void *from, size_t bytes);
/* The driver's index of a family. */
uint32_t family(uint32_t index);
void begin_queues(struct device *device);
void end_queues(struct device *device);
