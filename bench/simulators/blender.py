"""Blender's cloth modifier, by bpy: its preset Cotton, with self collision and more steps."""

from __future__ import annotations

import struct
import tempfile
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from bench.simulators.scenes import FRICTION, RATE, THICKNESS, Scene, Solid

QUALITY, COLLISION_QUALITY = 10, 5  # Cotton has 5 and the default of 2: too few for folds, says the manual
# A frame of Blender's cloth lasts 0.0316 s, whatever the frame rate is: what falls shows it, and this corrects it.
TIME_SCALE = 1.0 / (RATE * 0.001**0.5)
MOST_FRAMES = 2000
GROUP = "driven"


class Blender:
    """Only whole frames can be seen: the steps inside one are Blender's own."""

    steps = 1

    def __init__(self, scene: Scene, threads: int) -> None:
        bpy.ops.wm.read_factory_settings(use_empty=True)
        self._scene, self._frame = scene, 1
        stage = bpy.context.scene
        stage.render.threads_mode, stage.render.threads = "FIXED", threads
        stage.render.fps, stage.frame_start, stage.frame_end = RATE, 1, MOST_FRAMES
        stage.gravity, stage.use_gravity = (0.0, 0.0, -scene.gravity), scene.gravity > 0.0
        self._cloth = _object("cloth", scene.x, scene.faces)
        for k, solid in enumerate(scene.solids):
            one = _object(f"solid{k}", solid.x, solid.faces)
            one.modifiers.new("collision", "COLLISION")
            one.collision.thickness_outer = THICKNESS / 3.0  # is added to the distance of the cloth
            one.collision.cloth_friction = 10.0 * FRICTION  # a scale of its own, up to 80; 5 by default
            if any(solid.velocity):
                self._lead(one, solid)
        if len(scene.driven):
            self._drive()
        self._modifier()
        stage.frame_set(1)
        self.settings = (
            f"preset Cotton, quality {QUALITY}, collision quality {COLLISION_QUALITY}, "
            f"distances {1e3 * THICKNESS:g} mm; frames only"
        )

    def _modifier(self) -> None:
        modifier = self._cloth.modifiers.new("cloth", "CLOTH")
        settings, collisions = modifier.settings, modifier.collision_settings
        for name, value in {
            "quality": QUALITY, "tension_stiffness": 15.0, "compression_stiffness": 15.0, "shear_stiffness": 15.0,
            "bending_stiffness": 0.5, "tension_damping": 5.0, "compression_damping": 5.0, "shear_damping": 5.0,
            "air_damping": 1.0, "mass": 0.3, "time_scale": TIME_SCALE,
        }.items():  # fmt: skip
            setattr(settings, name, value)
        if len(self._scene.driven):
            settings.vertex_group_mass = GROUP
            settings.pin_stiffness = 50.0  # the largest
        collisions.collision_quality = COLLISION_QUALITY
        collisions.use_collision, collisions.distance_min = True, THICKNESS * 2.0 / 3.0
        collisions.use_self_collision, collisions.self_distance_min = True, THICKNESS
        collisions.self_friction = 10.0 * FRICTION
        modifier.point_cache.frame_start, modifier.point_cache.frame_end = 1, MOST_FRAMES

    def _drive(self) -> None:
        """Pinned vertices go where the mesh before the modifier is: that of a file of positions, frame by frame."""
        scene = self._scene
        group = self._cloth.vertex_groups.new(name=GROUP)
        group.add(scene.driven.tolist(), 1.0, "REPLACE")
        if scene.path is None:
            return
        x = np.repeat(scene.x[None].astype("<f4"), MOST_FRAMES, axis=0)
        for frame in range(MOST_FRAMES):
            x[frame, scene.driven] = scene.driven_at(frame / RATE)
        self._folder = tempfile.TemporaryDirectory(prefix="pliant-bench-")
        path = Path(self._folder.name) / "led.pc2"
        header = struct.pack("<12siiffi", b"POINTCACHE2\0", 1, len(scene.x), 1.0, 1.0, MOST_FRAMES)
        path.write_bytes(header + x.tobytes())
        cache = self._cloth.modifiers.new("led", "MESH_CACHE")
        cache.cache_format, cache.filepath, cache.frame_start = "PC2", str(path), 1.0

    def _lead(self, one: Any, solid: Solid) -> None:
        """Keyframes at the ends of a straight way."""
        for time in (0.0, solid.until):
            one.location = solid.shift(time).tolist()
            one.keyframe_insert("location", frame=1.0 + RATE * time)
        for strip in one.animation_data.action.layers[0].strips:
            for curve in strip.channelbags[0].fcurves:
                for point in curve.keyframe_points:
                    point.interpolation = "LINEAR"

    def step(self, time: float) -> None:
        self._frame += 1
        bpy.context.scene.frame_set(self._frame)

    def positions(self) -> np.ndarray:
        mesh = self._cloth.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        x = np.empty(3 * len(self._scene.x), np.float32)
        mesh.vertices.foreach_get("co", x)
        return x.reshape(-1, 3).astype(np.float64)


def _object(name: str, x: np.ndarray, faces: np.ndarray) -> Any:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(x.tolist(), [], faces.tolist())
    one = bpy.data.objects.new(name, mesh)
    bpy.context.collection.objects.link(one)
    return one
