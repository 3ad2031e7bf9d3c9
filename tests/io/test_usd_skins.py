"""Skinned meshes in USD: positions are those after blending, computed here by hand."""

import numpy as np
import pytest

from pliant import io as pio
from tests.io.usd_texts import JOINTS, PARTS, SHAPES, TEMPLATE

pytest.importorskip("pxr")

# Two joints, the second at x = 1 below the first; weights shift along x. Matrices of USD act on rows.
REST = np.array([(0, 0, 0), (1, 0, 0), (2, 0, 0), (2, 1, 0)], np.float64)
WEIGHTS = np.array([(1, 0), (0.5, 0.5), (0, 1), (0.25, 0.75)])
BIND = [np.eye(4), np.array([(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (1, 0, 0, 1)], np.float64)]
OFFSET = np.array((0, 0, 3.0))  # of the skeleton
SHIFT = np.array((0.5, 0, 0))  # geomBindTransform


def blended(turn, x=REST):
    """Linear blending of rows: the second joint turned around z."""
    c, s = np.cos(turn), np.sin(turn)
    local = np.array([(c, s, 0, 0), (-s, c, 0, 0), (0, 0, 1, 0), (1, 0, 0, 1)])
    moves = [np.eye(4), np.linalg.inv(BIND[1]) @ local]
    rows = np.column_stack((x + SHIFT, np.ones(len(x))))
    return sum(WEIGHTS[:, [j]] * (rows @ moves[j])[:, :3] for j in range(2)) + OFFSET


def opened(folder, ending=".usda", **parts):
    path = folder / "skinned.usda"
    path.write_text(TEMPLATE.format(**{**PARTS, **parts}), "utf-8")
    if ending != ".usda":
        from pxr import Usd

        Usd.Stage.Open(str(path)).Export(str(path.with_suffix(ending)))
    return pio.open_sequence(path.with_suffix(ending))


@pytest.mark.parametrize("ending", [".usda", ".usdc"])
def test_joints_are_blended(tmp_path, ending):
    sequence = opened(tmp_path, ending)
    assert sequence.times.tolist() == [0, 0.5]
    np.testing.assert_allclose(sequence[0], REST + SHIFT + OFFSET, atol=1e-6)
    np.testing.assert_allclose(sequence[1], blended(np.pi / 2), atol=1e-6)
    assert np.abs(sequence[1] - sequence[0]).max() > 1
    np.testing.assert_array_equal(pio.read(tmp_path / f"skinned{ending}").points, sequence[0])


def test_a_skin_may_be_bound_where_it_is(tmp_path):
    """Without a geomBindTransform, which is then the identity."""
    sequence = opened(tmp_path, joints=JOINTS.partition("        matrix4d")[0])
    np.testing.assert_allclose(sequence[1], blended(np.pi / 2, REST - SHIFT), atol=1e-6)


def test_shapes_are_blended_before_joints(tmp_path):
    sequence = opened(tmp_path, shapes=SHAPES)
    raised = REST + np.array((0, 0, 2)) * 0.5 * (np.arange(4) == 3)[:, None]
    np.testing.assert_allclose(sequence[1], blended(np.pi / 2, raised), atol=1e-6)


def test_shapes_alone_stay_in_the_space_of_the_mesh(tmp_path):
    sequence = opened(tmp_path, shapes=SHAPES, joints="")
    assert sequence.times.tolist() == [0, 0.5]
    np.testing.assert_allclose(sequence[0], REST + 7, atol=1e-6)
    np.testing.assert_allclose(sequence[1][3], REST[3] + (7, 7, 8), atol=1e-6)


def test_a_skeleton_without_motion_is_at_rest(tmp_path):
    sequence = opened(tmp_path, animation="")
    assert len(sequence) == 1
    np.testing.assert_allclose(sequence[0], REST + SHIFT + OFFSET, atol=1e-6)


def test_joints_of_no_skeleton_are_an_error(tmp_path):
    with pytest.raises(pio.FileError, match=r"skinned.usda.*/body/skin is bound to joints, but to no skeleton"):
        opened(tmp_path, binding="")


def test_joints_that_do_not_fit_are_an_error(tmp_path):
    with pytest.raises(pio.FileError, match=r"skinned.usda.*/body/skin"):
        opened(tmp_path, joints=JOINTS.replace("0.25, 0.75]", "0.25]"))
