"""Point clouds and their files: LAS/LAZ, PLY, PCD, E57 (read), XYZ text, npz."""

from gapcut.scenes.clouds.addition import with_original
from gapcut.scenes.clouds.class_map import ClassMap
from gapcut.scenes.clouds.cloud import NO_LABEL, PointCloud
from gapcut.scenes.clouds.errors import CloudError, CloudFileError
from gapcut.scenes.clouds.files import (
    READABLE,
    WRITABLE,
    clouds_in,
    is_text,
    label_names_path,
    read_cloud,
    write_cloud,
)
from gapcut.scenes.clouds.labelled import check_labelled, write_labelled
from gapcut.scenes.clouds.superpoint import read_superpoint_cloud, read_superpoint_graph

__all__ = [
    "NO_LABEL",
    "READABLE",
    "WRITABLE",
    "ClassMap",
    "CloudError",
    "CloudFileError",
    "PointCloud",
    "check_labelled",
    "clouds_in",
    "is_text",
    "label_names_path",
    "read_cloud",
    "read_superpoint_cloud",
    "read_superpoint_graph",
    "with_original",
    "write_cloud",
    "write_labelled",
]
