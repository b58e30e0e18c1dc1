#version 460

// The splat's colour at a pixel, multiplied by its alpha there.

layout(location = 0) flat in vec2 center;
layout(location = 1) flat in vec4 axes;
layout(location = 2) flat in vec4 color;

layout(location = 0) out vec4 pixel;

void main() {
    vec2 offset = gl_FragCoord.xy - center;
    // In standard deviations along the axes of the ellipse. Squares in pixels would cancel for long splats.
    vec2 away = vec2(dot(axes.xy, offset), dot(axes.zw, offset));
    float alpha = color.a * exp(-0.5 * dot(away, away));
    if (alpha < 1.0 / 255.0) {
        discard;
    }
    alpha = min(alpha, 0.99);
    pixel = vec4(color.rgb * alpha, alpha);
}
