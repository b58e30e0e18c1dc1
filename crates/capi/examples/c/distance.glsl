// Squared distances of particles from a point, as keys of type f32. A particle without life comes last in descending order.

layout(set = 1, binding = 0) readonly buffer VisitedParticles { vec4 visited_particles[]; };

KEY visit_key(uint index) {
    vec4 particle = visited_particles[index];
    vec3 way = particle.xyz - push.visitor_eye.xyz;
    precise float distance = way.x * way.x + way.y * way.y + way.z * way.z;
    return floatBitsToUint(particle.w > 0.0 ? distance : -1.0);
}
