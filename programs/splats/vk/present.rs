//! A window's images, and showing frames in them.

use std::ffi::CStr;
use std::rc::Rc;

use anyhow::{Context, Result, ensure};
use ash::{khr, vk};
use winit::raw_window_handle::{HasDisplayHandle, HasWindowHandle};
use winit::window::Window;

use super::frame::{Renderer, Target, Times};
use vksort_programs::common::vk::device::{Device, Extensions};
use vksort_programs::splats::Ordering;
use vksort_programs::splats::camera::{Camera, Size};
use vksort_programs::splats::extent::extent_of;

/// Longest wait for an image of the window, in nanoseconds. A window that nobody sees may have none, and still has events.
const TIMEOUT: u64 = 500_000_000;

/// What came of a frame.
pub enum Shown {
    Frame(Times),
    /// The window has no image to draw to now.
    NoImage,
    /// The window has changed, and needs new images.
    Changed,
}

/// A window's surface with its swapchain. A handle is null until it is made.
pub struct Presenter {
    surface: vk::SurfaceKHR,
    swapchain: vk::SwapchainKHR,
    images: Vec<vk::Image>,
    size: Size,
    /// Signalled when an image may be written.
    acquired: vk::Semaphore,
    /// Signalled when an image is written; one for each image, as showing it has no fence.
    written: Vec<vk::Semaphore>,
    surfaces: khr::surface::Instance,
    swapchains: khr::swapchain::Device,
    device: Rc<Device>,
    /// Goes behind its surface.
    window: Rc<Window>,
}

impl Presenter {
    /// What instance and device need for a window.
    pub fn extensions(window: &Window) -> Result<Extensions> {
        let display = window.display_handle().context("the window has no display")?;
        let names = ash_window::enumerate_required_extensions(display.as_raw())
            .context("Vulkan knows no windows of this system")?;
        // SAFETY: the names are constants of the crate.
        let instance = names.iter().map(|name| unsafe { CStr::from_ptr(*name) }).collect();
        Ok(Extensions { instance, device: vec![khr::swapchain::NAME] })
    }

    /// Takes a window whose extensions the device was opened with.
    pub fn new(device: &Rc<Device>, window: &Rc<Window>) -> Result<Presenter> {
        let instance = &device.instance;
        let mut made = Presenter {
            surface: vk::SurfaceKHR::null(),
            swapchain: vk::SwapchainKHR::null(),
            images: Vec::new(),
            size: Size { width: 0, height: 0 },
            acquired: vk::Semaphore::null(),
            written: Vec::new(),
            surfaces: khr::surface::Instance::new(&instance.entry, &instance.raw),
            swapchains: khr::swapchain::Device::new(&instance.raw, &device.raw),
            device: Rc::clone(device),
            window: Rc::clone(window),
        };
        let (display, handle) = (window.display_handle()?.as_raw(), window.window_handle()?.as_raw());
        // SAFETY: the instance has the extensions of the window, which outlives the surface.
        unsafe {
            made.surface = ash_window::create_surface(&instance.entry, &instance.raw, display, handle, None)
                .context("creating the surface of a window")?;
            made.acquired = device.raw.create_semaphore(&vk::SemaphoreCreateInfo::default(), None)?;
            let (physical, family) = (device.physical, device.family);
            let shows = made.surfaces.get_physical_device_surface_support(physical, family, made.surface)?;
            ensure!(shows, "the queue of {} shows no windows", device.requirements.profile().name);
        }
        made.resize()?;
        Ok(made)
    }

    /// Size of the images; both sides are 0 while nothing of the window is seen.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Makes images of the window's size.
    pub fn resize(&mut self) -> Result<()> {
        let inner = self.window.inner_size();
        // SAFETY: device and surface are alive. Images are destroyed when nothing uses them any more.
        unsafe {
            self.drop_images()?;
            let of_surface =
                self.surfaces.get_physical_device_surface_capabilities(self.device.physical, self.surface)?;
            let extent = extent_of(&of_surface, (inner.width, inner.height));
            if extent.width == 0 || extent.height == 0 {
                return Ok(());
            }
            let formats = self.surfaces.get_physical_device_surface_formats(self.device.physical, self.surface)?;
            let wanted = [vk::Format::B8G8R8A8_UNORM, vk::Format::R8G8B8A8_UNORM];
            // The picture is copied by a blit, which a device need not allow to every format.
            let blits = |format: &&vk::SurfaceFormatKHR| {
                let (instance, physical) = (&self.device.instance.raw, self.device.physical);
                let features = instance.get_physical_device_format_properties(physical, format.format);
                features.optimal_tiling_features.contains(vk::FormatFeatureFlags::BLIT_DST)
            };
            let format = formats.iter().filter(|format| wanted.contains(&format.format)).find(blits);
            let format = format.context("the window has no format of 8 bits that a picture can be copied to")?;
            let usage = vk::ImageUsageFlags::TRANSFER_DST;
            ensure!(of_surface.supported_usage_flags.contains(usage), "nothing can be copied to the window");
            let most = if of_surface.max_image_count == 0 { u32::MAX } else { of_surface.max_image_count };
            let opaque = vk::CompositeAlphaFlagsKHR::OPAQUE;
            let alphas = [opaque, vk::CompositeAlphaFlagsKHR::INHERIT];
            let alpha = alphas.into_iter().find(|alpha| of_surface.supported_composite_alpha.contains(*alpha));
            let info = vk::SwapchainCreateInfoKHR::default()
                .surface(self.surface)
                .min_image_count((of_surface.min_image_count + 1).min(most))
                .image_format(format.format)
                .image_color_space(format.color_space)
                .image_extent(extent)
                .image_array_layers(1)
                .image_usage(usage)
                .pre_transform(of_surface.current_transform)
                .composite_alpha(alpha.unwrap_or(opaque))
                .present_mode(vk::PresentModeKHR::FIFO)
                .clipped(true);
            self.swapchain =
                self.swapchains.create_swapchain(&info, None).context("creating the images of a window")?;
            self.images = self.swapchains.get_swapchain_images(self.swapchain)?;
            for _ in 0..self.images.len() {
                self.written.push(self.device.raw.create_semaphore(&vk::SemaphoreCreateInfo::default(), None)?);
            }
            self.size = Size { width: extent.width as usize, height: extent.height as usize };
        }
        Ok(())
    }

    /// Draws a frame and shows it.
    pub fn show(&mut self, renderer: &mut Renderer, camera: &Camera, ordering: Ordering) -> Result<Shown> {
        // SAFETY: the swapchain is alive. The semaphores are not in use: the last frame was waited for, and an image comes
        // back only after it was shown.
        unsafe {
            let acquired =
                self.swapchains.acquire_next_image(self.swapchain, TIMEOUT, self.acquired, vk::Fence::null());
            let index = match acquired {
                Ok((index, _suboptimal)) => index,
                Err(vk::Result::TIMEOUT | vk::Result::NOT_READY) => return Ok(Shown::NoImage),
                Err(vk::Result::ERROR_OUT_OF_DATE_KHR) => return Ok(Shown::Changed),
                Err(error) => return Err(error).context("waiting for an image of the window"),
            };
            let written = self.written[index as usize];
            let semaphores = [self.acquired, written];
            let target = Target { image: self.images[index as usize], size: self.size, semaphores };
            let times = renderer.draw_to(camera, ordering, Some(&target))?;
            let (written, swapchains, indices) = ([written], [self.swapchain], [index]);
            let info =
                vk::PresentInfoKHR::default().wait_semaphores(&written).swapchains(&swapchains).image_indices(&indices);
            match self.swapchains.queue_present(self.device.queue, &info) {
                // Images of the window's size stay, though others might suit it better: they might not come.
                Ok(true) if self.has_another_size()? => Ok(Shown::Changed),
                Ok(_) => Ok(Shown::Frame(times)),
                Err(vk::Result::ERROR_OUT_OF_DATE_KHR) => Ok(Shown::Changed),
                Err(error) => Err(error).context("showing a frame"),
            }
        }
    }

    /// Whether the window has another size than the images.
    fn has_another_size(&self) -> Result<bool> {
        let inner = self.window.inner_size();
        // SAFETY: device and surface are alive.
        let of_surface =
            unsafe { self.surfaces.get_physical_device_surface_capabilities(self.device.physical, self.surface)? };
        let extent = extent_of(&of_surface, (inner.width, inner.height));
        Ok((extent.width as usize, extent.height as usize) != (self.size.width, self.size.height))
    }

    /// # Safety
    ///
    /// Frames were waited for.
    unsafe fn drop_images(&mut self) -> Result<()> {
        // SAFETY: by this function's contract; nothing of the queue is left that shows an image. Each handle goes once.
        unsafe {
            self.device.raw.queue_wait_idle(self.device.queue)?;
            for semaphore in self.written.drain(..) {
                self.device.raw.destroy_semaphore(semaphore, None);
            }
            self.swapchains.destroy_swapchain(std::mem::take(&mut self.swapchain), None);
        }
        self.images.clear();
        self.size = Size { width: 0, height: 0 };
        Ok(())
    }
}

impl Drop for Presenter {
    fn drop(&mut self) {
        // SAFETY: frames were waited for, or the device is lost and nothing is destroyed; each handle is null or goes once.
        unsafe {
            if self.device.is_lost() || self.drop_images().is_err() {
                return;
            }
            self.device.raw.destroy_semaphore(self.acquired, None);
            self.surfaces.destroy_surface(self.surface, None);
        }
    }
}
