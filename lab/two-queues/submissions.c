/* What the two queues of a device are given: each queue's thread hands it on when its semaphores have their values. */
#include "two-queues.h"

/* A submission, with copies of what it points to. */
struct job {
    struct job *next;
    enum { EMPTY, SUBMIT, SUBMIT2 } kind;
    VkSubmitInfo submit;
    VkTimelineSemaphoreSubmitInfo values;
    VkSubmitInfo2 submit2;
    VkSemaphoreWaitInfo wait;
    VkFence fence;
    void *kept[6];
    unsigned count_of_kept;
};

static void *keep(struct job *job, const void *from, size_t bytes)
{
    return job->kept[job->count_of_kept++] = copy(from, bytes);
}

static void drop(struct job *job)
{
    while (job->count_of_kept)
        free(job->kept[--job->count_of_kept]);
    free(job);
}

/* Fills a job; false if the submission has what the layer does not know. */
static bool take(struct job *job, const VkSubmitInfo *given)
{
    const VkTimelineSemaphoreSubmitInfo none = { 0 }, *values = given->pNext ? given->pNext : &none;
    uint32_t waits = given->waitSemaphoreCount, signals = given->signalSemaphoreCount;
    if (given->pNext && (values->sType != VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO || values->pNext))
        return false;
    if ((waits && values->waitSemaphoreValueCount != waits) || (signals && values->signalSemaphoreValueCount != signals))
        return false;
    job->kind = SUBMIT;
    job->submit = *given;
    job->submit.pNext = &job->values;
    job->submit.pWaitSemaphores = keep(job, given->pWaitSemaphores, waits * sizeof(VkSemaphore));
    job->submit.pWaitDstStageMask = keep(job, given->pWaitDstStageMask, waits * sizeof(VkPipelineStageFlags));
    job->submit.pCommandBuffers = keep(job, given->pCommandBuffers, given->commandBufferCount * sizeof(VkCommandBuffer));
    job->submit.pSignalSemaphores = keep(job, given->pSignalSemaphores, signals * sizeof(VkSemaphore));
    job->values.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
    job->values.waitSemaphoreValueCount = waits;
    job->values.pWaitSemaphoreValues = keep(job, values->pWaitSemaphoreValues, waits * sizeof(uint64_t));
    job->values.signalSemaphoreValueCount = signals;
    job->values.pSignalSemaphoreValues = keep(job, values->pSignalSemaphoreValues, signals * sizeof(uint64_t));
    job->wait.semaphoreCount = waits;
    job->wait.pSemaphores = job->submit.pWaitSemaphores;
    job->wait.pValues = job->values.pWaitSemaphoreValues;
    return true;
}

static bool take2(struct job *job, const VkSubmitInfo2 *given)
{
    uint32_t waits = given->waitSemaphoreInfoCount, signals = given->signalSemaphoreInfoCount;
    uint32_t commands = given->commandBufferInfoCount;
    VkSemaphore *semaphores = keep(job, NULL, waits * sizeof *semaphores);
    uint64_t *values = keep(job, NULL, waits * sizeof *values);
    bool more = given->pNext;
    for (uint32_t i = 0; i < waits; i++) {
        more |= given->pWaitSemaphoreInfos[i].pNext != NULL;
        semaphores[i] = given->pWaitSemaphoreInfos[i].semaphore;
        values[i] = given->pWaitSemaphoreInfos[i].value;
    }
    for (uint32_t i = 0; i < signals; i++)
        more |= given->pSignalSemaphoreInfos[i].pNext != NULL;
    for (uint32_t i = 0; i < commands; i++)
        more |= given->pCommandBufferInfos[i].pNext != NULL;
    job->kind = SUBMIT2;
    job->submit2 = *given;
    job->submit2.pWaitSemaphoreInfos = keep(job, given->pWaitSemaphoreInfos, waits * sizeof(VkSemaphoreSubmitInfo));
    job->submit2.pSignalSemaphoreInfos = keep(job, given->pSignalSemaphoreInfos, signals * sizeof(VkSemaphoreSubmitInfo));
    job->submit2.pCommandBufferInfos = keep(job, given->pCommandBufferInfos, commands * sizeof(VkCommandBufferSubmitInfo));
    job->wait.semaphoreCount = waits;
    job->wait.pSemaphores = semaphores;
    job->wait.pValues = values;
    return !more;
}

/* Gives a job to the driver when its semaphores have their values. */
static VkResult start(struct device *device, struct job *job)
{
    VkResult result = job->wait.semaphoreCount ? VK_TIMEOUT : VK_SUCCESS;
    /* A program that destroys its device too early is told so: the wait does not last for ever. */
    for (bool ending = false; result == VK_TIMEOUT && !ending;) {
        ending = device->ending || device->failed;
        result = device->WaitSemaphores(device->handle, &job->wait, 10 * 1000 * 1000);
    }
    if (result == VK_TIMEOUT)
        fputs("two-queues: a submission is dropped, as its device ends before its semaphores have their values\n", stderr);
    if (result || device->failed)
        return VK_ERROR_DEVICE_LOST;
    pthread_mutex_lock(&device->submission);
    if (job->kind == SUBMIT2)
        result = device->QueueSubmit2(device->real, 1, &job->submit2, job->fence);
    else
        result = device->QueueSubmit(device->real, job->kind == SUBMIT, &job->submit, job->fence);
    pthread_mutex_unlock(&device->submission);
    if (result)
        fprintf(stderr, "two-queues: the driver refuses a submission with %d\n", (int)result);
    return result;
}

static void *work(void *of)
{
    struct queue *queue = of;
    struct device *device = queue->device;
    pthread_mutex_lock(&device->jobs);
    while (queue->first || !device->ending) {
        struct job *job = queue->first;
        if (!job) {
            pthread_cond_wait(&device->changed, &device->jobs);
            continue;
        }
        pthread_mutex_unlock(&device->jobs);
        VkResult result = start(device, job);
        pthread_mutex_lock(&device->jobs);
        if (result)
            device->failed = result;
        queue->first = job->next;
        drop(job);
        pthread_cond_broadcast(&device->changed);
    }
    pthread_mutex_unlock(&device->jobs);
    return NULL;
}

void begin_queues(struct device *device)
{
    pthread_mutex_init(&device->jobs, NULL);
    pthread_mutex_init(&device->submission, NULL);
    pthread_cond_init(&device->changed, NULL);
    for (struct queue *queue = device->queues; queue < device->queues + 2; queue++) {
        queue->device = device;
        if (pthread_create(&queue->thread, NULL, work, queue)) {
            fputs("two-queues: no thread\n", stderr);
            abort();
        }
    }
}

/* The threads end when they have no jobs. A job whose semaphores do not have their values by now is dropped. */
void end_queues(struct device *device)
{
    pthread_mutex_lock(&device->jobs);
    device->ending = true;
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->jobs);
    for (struct queue *queue = device->queues; queue < device->queues + 2; queue++)
        pthread_join(queue->thread, NULL);
    pthread_cond_destroy(&device->changed);
    pthread_mutex_destroy(&device->submission);
    pthread_mutex_destroy(&device->jobs);
}

/* One of the two kinds of submissions is NULL. */
static VkResult submit(VkQueue handle, uint32_t count, const VkSubmitInfo *infos, const VkSubmitInfo2 *infos2, VkFence fence)
{
    struct device *device = find(handle);
    struct queue *queue = &device->queues[handle != device->real];
    struct job *first = NULL, **end = &first, *last = NULL;
    bool known = true;
    /* A fence alone is a job too. */
    for (uint32_t i = 0; i < count || !last; i++) {
        *end = last = copy(NULL, sizeof *last);
        end = &last->next;
        last->wait.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
        if (count)
            known &= infos2 ? take2(last, &infos2[i]) : take(last, &infos[i]);
    }
    last->fence = fence;
    VkResult result = known ? device->failed : refuse("a submission has more than command buffers and timeline semaphores");
    if (result) {
        for (struct job *next; first; first = next) {
            next = first->next;
            drop(first);
        }
        return result;
    }
    pthread_mutex_lock(&device->jobs);
    *(queue->first ? &queue->last->next : &queue->first) = first;
    queue->last = last;
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->jobs);
    return VK_SUCCESS;
}

VkResult two_QueueSubmit(VkQueue queue, uint32_t count, const VkSubmitInfo *infos, VkFence fence)
{
    return submit(queue, count, infos, NULL, fence);
}

VkResult two_QueueSubmit2(VkQueue queue, uint32_t count, const VkSubmitInfo2 *infos, VkFence fence)
{
    return submit(queue, count, NULL, infos, fence);
}

VkResult two_QueueBindSparse(VkQueue queue, uint32_t count, const VkBindSparseInfo *infos, VkFence fence)
{
    (void)queue, (void)count, (void)infos, (void)fence;
    return refuse("sparse memory is not supported");
}

/* Waits until the driver has the submissions of some queues, and has done all that it has. */
static VkResult drain(struct device *device, struct queue *queues, unsigned count)
{
    pthread_mutex_lock(&device->jobs);
    for (unsigned i = 0; i < count; i++)
        while (queues[i].first)
            pthread_cond_wait(&device->changed, &device->jobs);
    pthread_mutex_unlock(&device->jobs);
    pthread_mutex_lock(&device->submission);
    VkResult result = device->QueueWaitIdle(device->real);
    pthread_mutex_unlock(&device->submission);
    return device->failed ? device->failed : result;
}

VkResult two_QueueWaitIdle(VkQueue queue)
{
    struct device *device = find(queue);
    return drain(device, &device->queues[queue != device->real], 1);
}

VkResult two_DeviceWaitIdle(VkDevice handle)
{
    struct device *device = find(handle);
    return drain(device, device->queues, 2);
}

/* A program may destroy what it has waited for, while the call that submitted it has yet to return. */
static VkResult settled(struct device *device, VkResult result)
{
    pthread_mutex_lock(&device->submission);
    pthread_mutex_unlock(&device->submission);
    return device->failed ? device->failed : result;
}

VkResult two_WaitForFences(
    VkDevice handle, uint32_t count, const VkFence *fences, VkBool32 all, uint64_t timeout)
{
    struct device *device = find(handle);
    return settled(device, device->WaitForFences(handle, count, fences, all, timeout));
}

VkResult two_GetFenceStatus(VkDevice handle, VkFence fence)
{
    struct device *device = find(handle);
    return settled(device, device->GetFenceStatus(handle, fence));
}

VkResult two_WaitSemaphores(VkDevice handle, const VkSemaphoreWaitInfo *info, uint64_t timeout)
{
    struct device *device = find(handle);
    return settled(device, device->WaitSemaphores(handle, info, timeout));
}

VkResult two_GetSemaphoreCounterValue(VkDevice handle, VkSemaphore semaphore, uint64_t *value)
{
    struct device *device = find(handle);
    return settled(device, device->GetSemaphoreCounterValue(handle, semaphore, value));
}

/* A binary semaphore may be waited for only behind its signal, which the threads do not keep. */
VkResult two_CreateSemaphore(
    VkDevice handle, const VkSemaphoreCreateInfo *info, const VkAllocationCallbacks *allocator, VkSemaphore *semaphore)
{
    struct device *device = find(handle);
    for (const VkBaseInStructure *next = info->pNext; next; next = next->pNext)
        if (next->sType == VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO &&
            ((const VkSemaphoreTypeCreateInfo *)next)->semaphoreType == VK_SEMAPHORE_TYPE_TIMELINE)
            return device->CreateSemaphore(handle, info, allocator, semaphore);
    return refuse("binary semaphores are not supported");
}
