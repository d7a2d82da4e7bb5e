"""A virtual terrestrial laser scanner: labelled scans of bridges (extra ``scenes``)."""

from gapcut.scenes.scanner.rays import GROUND
from gapcut.scenes.scanner.scan import Scan, scan_bridge, thin_scan
from gapcut.scenes.scanner.settings import ScannerSettings

__all__ = ["GROUND", "Scan", "ScannerSettings", "scan_bridge", "thin_scan"]
