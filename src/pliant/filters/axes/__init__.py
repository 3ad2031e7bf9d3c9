"""Separating axes: what is proved by looking along a line.

Theorem 1 of paper 004. If all points of one thing are on the same side of all points of the other along some axis L, at
t = 0 and at t = 1, the two never meet: every difference is linear in t, so it keeps its sign in between. Any L will do
for the proof, a rounded one too, provided that every difference is evaluated for L as it is (errata 14), with strict
signs (errata 13). Which L is tried decides how much is culled. Everything in papers 002 and 004 that culls by an axis
is a choice of L, and here:

  paper 004  Theorem 1             the test along an axis, its error bound          ``separation``
             Corollaries 1, 3      a vertex and a face, two edges                   ``features``
             Corollaries 2, 4      a vertex or an edge and a cell                   ``cells``, two cells at once
             section 4.4           elements, cells                                  ``elements``, ``cells``
  paper 002  Corollary 4.3         a vertex and the plane of a face                 ``features.apart_by_plane``
             Lemma 5.1             an edge and the plane that it spans with another ``features.apart_by_plane``
             Lemmas 4.4, 5.2       from centre to centre, in that plane             ``features.apart_by_circle``
             Corollary 6.2         a triangle and the plane of the other            ``elements``, ``triangles``
             Corollaries 6.1, 6.3  an edge and all of the other triangle            ``triangle_features``, ``triangles``
             Table 2               all of them, for two triangles                   ``triangle_features``
  ours                             elements that share a vertex                     ``adjacent``
                                   from centre to centre, with over-relaxation      ``separation``, ``lanes``
                                   the same, for tetrahedra and shells              ``cell_lanes``
                                   axes that change in the course of the motion     ``triangles``
"""
