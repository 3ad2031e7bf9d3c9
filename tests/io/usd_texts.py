"""USD in text: a layer that names others, and a skinned mesh."""

from __future__ import annotations

LAYER = """#usda 1.0
(
    subLayers = [@sub.usda@]
)
def "a" (
    references = @reference.usda@</x>
    payload = @payload.usda@
    variantSets = "v"
)
{
    variantSet "v" = {
        "x" (
            references = @variant.usda@
        ) {
            def "c" (
                prepend references = [@deep.usda@, </a>]
            )
            {
            }
        }
    }
}
"""


TEMPLATE = """#usda 1.0
( timeCodesPerSecond = 10 )
def SkelRoot "body" {{
    def Skeleton "bones" (prepend apiSchemas = ["SkelBindingAPI"]) {{
        uniform token[] joints = ["a", "a/b"]
        uniform matrix4d[] bindTransforms = [{eye}, {moved}]
        uniform matrix4d[] restTransforms = [{eye}, {moved}]
        {animation}
        double3 xformOp:translate = (0, 0, 3)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        def SkelAnimation "walk" {{
            uniform token[] joints = ["a", "a/b"]
            float3[] translations = [(0, 0, 0), (1, 0, 0)]
            quatf[] rotations.timeSamples = {{
                0: [(1, 0, 0, 0), (1, 0, 0, 0)],
                5: [(1, 0, 0, 0), (0.70710678, 0, 0, 0.70710678)],
            }}
            half3[] scales = [(1, 1, 1), (1, 1, 1)]
            uniform token[] blendShapes = ["up"]
            float[] blendShapeWeights.timeSamples = {{ 0: [0], 5: [0.5] }}
        }}
    }}
    def Mesh "skin" (prepend apiSchemas = ["SkelBindingAPI"]) {{
        int[] faceVertexCounts = [3, 3]
        int[] faceVertexIndices = [0, 1, 3, 1, 2, 3]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (2, 0, 0), (2, 1, 0)]
        {binding}
        {joints}
        {shapes}
        # Joints take points from where they are bound: the place of the mesh itself does not count.
        double3 xformOp:translate = (7, 7, 7)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        def BlendShape "up" {{
            uniform vector3f[] offsets = [(0, 0, 2)]
            uniform int[] pointIndices = [3]
        }}
    }}
}}
"""
EYE = "((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))"
PER_VERTEX = 'elementSize = 2; interpolation = "vertex"'
JOINTS = f"""
        int[] primvars:skel:jointIndices = [0, 1, 0, 1, 0, 1, 0, 1] ( {PER_VERTEX} )
        float[] primvars:skel:jointWeights = [1, 0, 0.5, 0.5, 0, 1, 0.25, 0.75] ( {PER_VERTEX} )
        matrix4d primvars:skel:geomBindTransform = ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0.5, 0, 0, 1))
"""
SHAPES = """
        uniform token[] skel:blendShapes = ["up"]
        rel skel:blendShapeTargets = </body/skin/up>
"""
PARTS = {
    "eye": EYE, "moved": EYE.replace("(0, 0, 0, 1)", "(1, 0, 0, 1)"), "binding": "rel skel:skeleton = </body/bones>",
    "animation": "rel skel:animationSource = </body/bones/walk>", "joints": JOINTS, "shapes": "",
}  # fmt: skip
