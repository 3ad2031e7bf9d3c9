"""Skinned meshes of USD: what joints and blend shapes make of their points, computed by usd-core."""

from __future__ import annotations

from typing import Any, NamedTuple


class Skin(NamedTuple):
    """One mesh below a SkelRoot, and what moves it: queries of UsdSkel."""

    skinning: Any
    skeleton: Any

    @property
    def animation(self) -> Any:
        return self.skeleton.GetAnimQuery()

    def samples(self) -> set[float]:
        """Times at which joints, shapes or influences are given."""
        # Not all at once, by GetTimeSamples, which fails where no geomBindTransform is given.
        influences = self.skinning.GetJointIndicesPrimvar(), self.skinning.GetJointWeightsPrimvar()
        times: set[float] = set()
        for attribute in (*influences, self.skinning.GetGeomBindTransformAttr()):
            times.update(attribute.GetTimeSamples() if attribute else ())
        if self.animation:
            times.update(self.animation.GetJointTransformTimeSamples())
            times.update(self.animation.GetBlendShapeWeightTimeSamples())
        return times

    @property
    def carrier(self) -> Any:
        """The prim in whose space the points are when they are posed: joints take them out of that of the mesh."""
        return (self.skeleton if self.skinning.HasJointInfluences() else self.skinning).GetPrim()

    def pose(self, pxr: Any, points: Any, time: Any) -> None:
        """Move points, a Vec3fArray, from where they are at rest."""
        if self.skinning.HasBlendShapes() and self.animation:
            self._blend(pxr, points, time)
        if self.skinning.HasJointInfluences():
            transforms = self.skeleton.ComputeSkinningTransforms(time)
            if transforms is None or not self.skinning.ComputeSkinnedPoints(transforms, points, time):
                raise ValueError(f"the joints of {self.skinning.GetPrim().GetPath()} cannot be computed")

    def _blend(self, pxr: Any, points: Any, time: Any) -> None:
        given = self.animation.ComputeBlendShapeWeights(time)
        mapper = self.skinning.GetBlendShapeMapper()
        if given is None or mapper is None:
            return
        shapes = pxr.UsdSkel.BlendShapeQuery(pxr.UsdSkel.BindingAPI(self.skinning.GetPrim()))
        weights, blend_shapes, sub_shapes = shapes.ComputeSubShapeWeights(mapper.Remap(given))
        indices, offsets = shapes.ComputeBlendShapePointIndices(), shapes.ComputeSubShapePointOffsets()
        if not shapes.ComputeDeformedPoints(weights, blend_shapes, sub_shapes, indices, offsets, points):
            raise ValueError(f"the blend shapes of {self.skinning.GetPrim().GetPath()} cannot be computed")


def skins_of(pxr: Any, stage: Any) -> dict[Any, Skin]:
    """Path of a mesh to its skin, of all that have one."""
    everything, cache, skins = pxr.Usd.TraverseInstanceProxies(), pxr.UsdSkel.Cache(), {}
    for prim in pxr.Usd.PrimRange.Stage(stage, everything):
        if not prim.IsA(pxr.UsdSkel.Root):
            continue
        root = pxr.UsdSkel.Root(prim)
        cache.Populate(root, everything)
        for binding in cache.ComputeSkelBindings(root, everything):
            skeleton = cache.GetSkelQuery(binding.GetSkeleton())
            for skinning in binding.GetSkinningTargets():
                skins[skinning.GetPrim().GetPath()] = Skin(skinning, skeleton)
        _require_skins(pxr, prim, skins)
    return skins


def _require_skins(pxr: Any, root: Any, skins: dict[Any, Skin]) -> None:
    """A mesh that names joints and has no skeleton would stay where it was when it was bound."""
    for prim in pxr.Usd.PrimRange(root, pxr.Usd.TraverseInstanceProxies()):
        if prim.GetPath() in skins or not prim.IsA(pxr.UsdGeom.Mesh):
            continue
        binding = pxr.UsdSkel.BindingAPI(prim)
        if binding.GetJointIndicesPrimvar().HasValue() or binding.GetBlendShapeTargetsRel().HasAuthoredTargets():
            raise ValueError(
                f"{prim.GetPath()} is bound to joints, but to no skeleton; bake its points where it is made"
            )
