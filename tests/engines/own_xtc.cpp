// A small XTC as llama.cpp has it, for the runner of vectors; with -DWRONG it keeps the top.

#include "run_vectors.hpp"

#include <algorithm>
#include <numeric>

std::vector<float> xtc(const std::vector<float> &logits, const Settings &settings) {
    const float top = *std::max_element(logits.begin(), logits.end());
    std::vector<float> p(logits.size());
    float sum = 0;
    for (size_t i = 0; i < p.size(); ++i) sum += p[i] = std::exp(logits[i] - top);
    for (float &one : p) one /= sum;
    std::vector<int> order(p.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return p[a] > p[b]; });
    if (settings.probability <= 0 || settings.threshold > 0.5f) return p;
#ifdef WRONG
    for (size_t i = 1; i < order.size() && p[order[i]] >= settings.threshold; ++i) p[order[i]] = 0;
#else
    size_t gone = 0;
    while (gone + 1 < order.size() && p[order[gone + 1]] >= settings.threshold) ++gone;
    if (order.size() - gone < settings.min_keep) return p;
    for (size_t i = 0; i < gone; ++i) p[order[i]] = 0;
#endif
    const float left = std::accumulate(p.begin(), p.end(), 0.0f);
    for (float &one : p) one /= left;
    return p;
}
