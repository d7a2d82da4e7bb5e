// Reads "n radius" and n rows "x y z nx ny nz" from standard input, writes n rows of 9 frame and 352 descriptor values
// as float32 to standard output: SHOT352 of the Point Cloud Library 1.13.
#include <pcl/features/shot.h>
#include <pcl/features/shot_lrf.h>
#include <pcl/point_types.h>

#include <cstdio>
#include <iostream>

int main() {
    std::size_t n = 0;
    double radius = 0;
    std::cin >> n >> radius;
    pcl::PointCloud<pcl::PointXYZ>::Ptr points(new pcl::PointCloud<pcl::PointXYZ>);
    pcl::PointCloud<pcl::Normal>::Ptr normals(new pcl::PointCloud<pcl::Normal>);
    for (std::size_t i = 0; i < n; ++i) {
        float v[6];
        for (float& x : v) std::cin >> x;
        points->push_back(pcl::PointXYZ(v[0], v[1], v[2]));
        normals->push_back(pcl::Normal(v[3], v[4], v[5]));
    }
    pcl::SHOTEstimation<pcl::PointXYZ, pcl::Normal, pcl::SHOT352> estimation;
    estimation.setInputCloud(points);
    estimation.setInputNormals(normals);
    estimation.setRadiusSearch(radius);
    pcl::PointCloud<pcl::SHOT352> shot;
    estimation.compute(shot);
    for (const pcl::SHOT352& s : shot) {
        std::fwrite(s.rf, sizeof(float), 9, stdout);
        std::fwrite(s.descriptor, sizeof(float), 352, stdout);
    }
}
