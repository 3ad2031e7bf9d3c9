"""What moves a character: skeleton, clips, skinning."""
