//! A window that shows the scene: dragging turns the camera, the wheel brings it nearer, and keys choose the order.

use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use winit::application::ApplicationHandler;
use winit::dpi::{PhysicalPosition, PhysicalSize};
use winit::event::{ElementState, MouseButton, MouseScrollDelta, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop};
use winit::keyboard::{Key, NamedKey};
use winit::window::{Window, WindowId};

use crate::vk::{self, Device, Extensions, PASSES, Presenter, Renderer, Times};
use vksort_programs::common;
use vksort_programs::common::duration;
use vksort_programs::splats::Ordering;
use vksort_programs::splats::camera::{Camera, Pose, Size};

/// Degrees for a pixel of dragging.
const TURN: f32 = 0.3;
/// How much nearer a step of the wheel brings the camera.
const NEARER: f32 = 0.9;
/// Time between two titles.
const TITLE: Duration = Duration::from_millis(500);

/// Makes what draws the scene, once there is a window: with its extensions and in its size.
type Open<'a> = Box<dyn FnOnce(&Extensions, Size) -> Result<(Rc<Device>, Renderer)> + 'a>;

/// Shows a window until it is closed.
pub fn run<'a>(
    size: Size,
    pose: Pose,
    ordering: Ordering,
    open: impl FnOnce(&Extensions, Size) -> Result<(Rc<Device>, Renderer)> + 'a,
) -> Result<()> {
    let events = EventLoop::new().context("there is no display for a window")?;
    events.set_control_flow(ControlFlow::Poll);
    common::say("drag turns, the wheel zooms; s: stable order, u: unsorted, r: reversed; Escape closes the window");
    let open: Open<'a> = Box::new(open);
    let mut app = App { size, pose, ordering, open: Some(open), shown: None, drag: None, ended: Ok(()) };
    events.run_app(&mut app)?;
    app.ended
}

struct App<'a> {
    size: Size,
    pose: Pose,
    ordering: Ordering,
    open: Option<Open<'a>>,
    shown: Option<Shown>,
    /// Where the pointer was last; while a button is pressed, it drags.
    drag: Option<(PhysicalPosition<f64>, bool)>,
    ended: Result<()>,
}

/// A window with what is drawn in it. The presenter goes first.
struct Shown {
    presenter: Presenter,
    renderer: Renderer,
    window: Rc<Window>,
    titled: Instant,
}

impl App<'_> {
    fn create(&mut self, events: &ActiveEventLoop) -> Result<()> {
        let Some(open) = self.open.take() else { return Ok(()) };
        let size = PhysicalSize::new(self.size.width as u32, self.size.height as u32);
        let window = Window::default_attributes().with_title("splats").with_inner_size(size);
        let window = Rc::new(events.create_window(window).context("creating a window")?);
        let (device, renderer) = open(&Presenter::extensions(&window)?, self.size)?;
        let presenter = Presenter::new(&device, &window)?;
        self.shown = Some(Shown { presenter, renderer, window, titled: Instant::now() });
        self.resize()
    }

    fn resize(&mut self) -> Result<()> {
        let Some(Shown { presenter, renderer, .. }) = &mut self.shown else { return Ok(()) };
        presenter.resize()?;
        let size = presenter.size();
        if size.width > 0 { renderer.resize(size) } else { Ok(()) }
    }

    fn redraw(&mut self) -> Result<()> {
        let Some(Shown { presenter, renderer, window, titled }) = &mut self.shown else { return Ok(()) };
        if presenter.size().width == 0 {
            return Ok(());
        }
        let times = match presenter.show(renderer, &Camera::new(self.pose)?, self.ordering)? {
            vk::Shown::Frame(times) => times,
            vk::Shown::NoImage => return Ok(()),
            vk::Shown::Changed => return self.resize(),
        };
        if titled.elapsed() >= TITLE {
            *titled = Instant::now();
            window.set_title(&title(&times, self.ordering));
        }
        Ok(())
    }

    fn handle(&mut self, event: &WindowEvent) -> Result<()> {
        match event {
            WindowEvent::Resized(_) => return self.resize(),
            WindowEvent::RedrawRequested => return self.redraw(),
            WindowEvent::MouseInput { state, button: MouseButton::Left, .. } => {
                if let Some((_, pressed)) = &mut self.drag {
                    *pressed = *state == ElementState::Pressed;
                }
            }
            WindowEvent::CursorMoved { position, .. } => {
                let pressed = self.drag.is_some_and(|(_, pressed)| pressed);
                if let Some((last, true)) = self.drag {
                    let (x, y) = ((position.x - last.x) as f32, (position.y - last.y) as f32);
                    self.pose = self.pose.orbit(-TURN * x).tilt(TURN * y);
                }
                self.drag = Some((*position, pressed));
            }
            WindowEvent::MouseWheel { delta, .. } => {
                let steps = match delta {
                    MouseScrollDelta::LineDelta(_, lines) => *lines,
                    MouseScrollDelta::PixelDelta(pixels) => pixels.y as f32 / 100.0,
                };
                self.pose = self.pose.zoom(NEARER.powf(steps));
            }
            WindowEvent::KeyboardInput { event, .. } => {
                self.ordering = match event.logical_key.to_text() {
                    Some("s") => Ordering::Stable,
                    Some("u") => Ordering::Unsorted,
                    Some("r") => Ordering::Reversed,
                    _ => self.ordering,
                };
            }
            _ => {}
        }
        Ok(())
    }

    /// Ends the program's events after an error.
    fn check(&mut self, events: &ActiveEventLoop, result: Result<()>) {
        if result.is_err() {
            self.ended = result;
            events.exit();
        }
    }
}

impl ApplicationHandler for App<'_> {
    fn resumed(&mut self, events: &ActiveEventLoop) {
        let created = self.create(events);
        self.check(events, created);
    }

    fn window_event(&mut self, events: &ActiveEventLoop, _window: WindowId, event: WindowEvent) {
        let escape = |event: &WindowEvent| match event {
            WindowEvent::KeyboardInput { event, .. } => event.logical_key == Key::Named(NamedKey::Escape),
            _ => false,
        };
        if matches!(event, WindowEvent::CloseRequested) || escape(&event) {
            return events.exit();
        }
        let handled = self.handle(&event);
        self.check(events, handled);
    }

    fn about_to_wait(&mut self, _events: &ActiveEventLoop) {
        if let Some(shown) = &self.shown {
            shown.window.request_redraw();
        }
    }
}

fn title(times: &Times, ordering: Ordering) -> String {
    let order = match ordering {
        Ordering::Stable => "stable",
        Ordering::Unsorted => "unsorted",
        Ordering::Reversed => "reversed",
    };
    let passes = times.passes.into_iter().flat_map(|passes| PASSES.into_iter().zip(passes));
    let passes: String = passes.map(|(name, nanoseconds)| format!(", {name} {}", duration(nanoseconds))).collect();
    format!("splats, {order}: {}{passes}", duration(times.wall.as_nanos() as f64))
}
