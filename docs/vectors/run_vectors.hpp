// Run golden vectors of XTC against an implementation. C++17, the standard library alone.
//
//     #include "run_vectors.hpp"
//     std::vector<float> xtc(const std::vector<float> &logits, const Settings &settings) { ... }
//
//     xtc-viz vectors --dialect llama.cpp --format tsv -o vectors.tsv
//     g++ -std=c++17 my_xtc.cpp -o run_vectors && ./run_vectors vectors.tsv
//
// Left out unless they are asked for: cases that rounding may decide (--safety any,plain,probs), those
// that are about temperature 0 (--temperature-0), where one token is to be left, and those about
// llama.cpp's min_keep (--min-keep).

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

struct Settings {
    float probability, threshold, temperature;
    std::vector<int> protected_tokens;
    std::vector<float> probabilities;  // the softmax of the logits, for a rule that is given these
    size_t min_keep;                   // llama.cpp's: where fewer would be left it does nothing
};

// Return the probability of each token behind XTC, 0 for those that are removed. A masked token has
// a logit of -inf.
std::vector<float> xtc(const std::vector<float> &logits, const Settings &settings);

static std::vector<std::string> split(const std::string &text, char separator) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
    return parts;
}

static std::vector<float> floats(const std::string &text) {
    std::vector<float> values;
    for (const auto &part : split(text, ',')) values.push_back(std::strtof(part.c_str(), nullptr));
    return values;
}

static std::vector<int> ints(const std::string &text) {
    std::vector<int> values;
    for (const auto &part : split(text, ',')) values.push_back(std::atoi(part.c_str()));
    return values;
}

static std::string wrong(std::map<std::string, std::string> &at) {
    Settings settings{floats(at["probability"])[0], floats(at["threshold"])[0],
                      floats(at["temperature"])[0], ints(at["protected"]),
                      floats(at["probabilities"]),
                      std::strtoul(at["min_keep"].c_str(), nullptr, 10)};
    const std::vector<float> answer = xtc(floats(at["logits"]), settings);
    std::string left;
    for (size_t token = 0; token < answer.size(); ++token)
        if (answer[token] > 0) left += (left.empty() ? "" : ",") + std::to_string(token);
    const auto right = split(at["survivors"], '|');
    bool found = false;
    for (const auto &survivors : right) found = found || survivors == left;
    if (!found) return "leaves " + left + " where " + at["survivors"] + " should be left";
    const auto weights = floats(at["weights"]);
    for (size_t token = 0; left == right[0] && token < answer.size(); ++token)
        if (std::fabs(answer[token] - weights[token]) > 1e-5f)
            return "gives token " + std::to_string(token) + " another probability";
    return "";
}

int main(int count, char **words) {
    std::string path, safety = "any";
    bool temperature_0 = false, min_keep = false;
    for (int i = 1; i < count; ++i) {
        const std::string word = words[i];
        if (word == "--temperature-0") temperature_0 = true;
        else if (word == "--min-keep") min_keep = true;
        else if (word == "--safety" && i + 1 < count) safety = words[++i];
        else path = word;
    }
    std::ifstream file(path);
    std::string line;
    if (!std::getline(file, line) || line.rfind("# xtc-vectors 2,", 0) != 0) {
        std::cerr << path << " does not hold xtc-vectors of version 2\n";
        return 2;
    }
    std::getline(file, line);
    const auto columns = split(line, '\t');
    int cases = 0, failed = 0;
    while (std::getline(file, line)) {
        const auto values = split(line, '\t');
        std::map<std::string, std::string> at;
        for (size_t i = 0; i < values.size(); ++i) at[columns[i]] = values[i];
        if (("," + safety + ",").find("," + at["safety"] + ",") == std::string::npos) continue;
        if (floats(at["temperature"])[0] == 0 && !temperature_0) continue;
        if (at["min_keep"] != "0" && !min_keep) continue;
        ++cases;
        const std::string problem = wrong(at);
        if (problem.empty()) continue;
        ++failed;
        std::cout << at["name"] << " (threshold " << at["threshold"] << "): " << problem << "\n";
    }
    std::cout << cases - failed << " of " << cases << " cases agree\n";
    return failed || !cases;
}
