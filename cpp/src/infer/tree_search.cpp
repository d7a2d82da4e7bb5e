#include "gapcut/infer/tree_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>

#include "annealing.hpp"
#include "elimination.hpp"
#include "recombination.hpp"

namespace gapcut::infer {
namespace {

constexpr double kEntriesPerStopTest = 1 << 18;
constexpr double kEntriesOfWhole = 1 << 22;   // forests of the whole graph are made of graphs up to this size,
constexpr int kWholeInVain = 6;               // until so many in a row do not help
constexpr std::int64_t kLargestWindow = 200;  // nodes
constexpr int kForestsOfWindow = 4;
constexpr std::int64_t kLargestBlock = 400;                     // nodes of a window for elimination
constexpr std::int64_t kSmallestTable = 3, kLargestTable = 13;  // binary logarithm of a table's entries
constexpr std::int64_t kKicks = 3;
constexpr std::int64_t kFirstCycle = 100;
// The penalty was chosen on two colourings with one run of two seconds each; runs vary more than its neighbours differ.
constexpr double kHighestTemperature = 0.2, kLowestPenalty = 2.0;  // of links_.scale()
constexpr double kHardPart = 0.1;                                  // of a cycle, with the full penalty

// Where entries are forbidden: restarts by annealing of single flips. Each entry takes 40 bytes there.
constexpr double kEntriesOfKernel = 1 << 20;
constexpr std::size_t kMostElites = 16;
constexpr int kParents = 3;                             // elites that a new labeling is recombined with
constexpr double kFirstAnnealing = 1e6, kGrowth = 1.3;  // flips tried; each next one longer
constexpr double kLongestAnnealing = 1e12;
constexpr double kWithMending = 2.0;                       // times the work of an annealing
constexpr double kLeastPenalty = 1.2, kMostPenalty = 3.0;  // the lowest of an annealing, of the kernel's scale

}  // namespace

class TreeSearch::Search {
  public:
    Search(const EnergyView& energy, std::uint64_t seed)
        : reduced_(energy), random_(seed), links_(reduced_), elimination_(links_) {
        const auto n = static_cast<std::size_t>(energy.n_nodes());
        parent_.assign(n, kOutside), inside_.assign(n, 0), place_.assign(n, 0), window_of_.assign(n, 0);
        length_ = kFirstCycle + std::ssize(links_.nodes()) / kLargestWindow;
    }

    TreeSearchResult run(std::vector<std::int32_t>&& labels, double most_entries, const StopTest& stop) {
        labels_ = std::move(labels);
        most_ = read_ + most_entries, next_test_ = read_;
        stop_ = &stop, stopped_ = false;
        TreeSearchResult out;
        if (!links_.nodes().empty()) {
            whole();
            windows(out);
        }
        reduced_.complete(labels_);
        out.labels = std::move(labels_);
        out.stopped = stopped_;
        return out;
    }

  private:
    static constexpr std::int64_t kOutside = -2, kRoot = -1;

    struct Elite {
        double value;
        std::vector<std::int32_t> labels;
    };

    std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n)); }

    bool stops() {
        if (stopped_ || read_ >= most_) return true;
        if (read_ < next_test_) return false;
        next_test_ = read_ + kEntriesPerStopTest;
        return stopped_ = *stop_ && (*stop_)();
    }

    // Marks an induced forest among `nodes`, grown from random roots, in forest_: parents before children.
    void grow(const std::vector<std::int32_t>& nodes) {
        forest_.clear();
        for (const std::int32_t u : nodes) inside_[u] = 1, parent_[u] = kOutside, place_[u] = 0;
        order_ = nodes;
        for (std::size_t i = 0; i < order_.size(); ++i)
            std::swap(order_[i],
                      order_[i + static_cast<std::size_t>(below(static_cast<std::int64_t>(order_.size() - i)))]);
        for (const std::int32_t root : order_) {
            if (parent_[root] != kOutside || place_[root] > 0) continue;  // has a neighbour in a tree
            front_.assign(1, {root, kRoot});
            while (!front_.empty()) {
                std::swap(front_[static_cast<std::size_t>(below(std::ssize(front_)))], front_.back());
                const auto [u, from] = front_.back();
                front_.pop_back();
                if (parent_[u] != kOutside || place_[u] > 1) continue;
                parent_[u] = from;
                forest_.push_back(u);
                for (const Link& link : links_.of(u)) {
                    const std::int32_t v = link.other;
                    if (!inside_[v] || parent_[v] != kOutside) continue;
                    if (++place_[v] == 1) front_.push_back({v, link.pair});
                }
            }
        }
        for (const std::int32_t u : nodes) inside_[u] = 0;
    }

    // The best labels of the forest, given all others.
    void optimise(const std::vector<std::int32_t>& nodes) {
        grow(nodes);
        cost_at_.resize(forest_.size());
        std::int64_t size = 0;
        for (std::size_t i = 0; i < forest_.size(); ++i) {
            place_[forest_[i]] = static_cast<std::int32_t>(i);
            cost_at_[i] = size;
            size += links_.n_labels(forest_[i]);
        }
        costs_.resize(static_cast<std::size_t>(size));
        for (const std::int32_t u : forest_) condition(u);
        for (std::size_t i = forest_.size(); i-- > 0;) send(forest_[i]);
        for (const std::int32_t u : forest_) choose(u);
        for (const std::int32_t u : nodes) parent_[u] = kOutside;
    }

    // costs = unary and all neighbours that keep their labels.
    void condition(std::int32_t u) {
        double* cost = costs_.data() + cost_at_[place_[u]];
        const std::int32_t n = links_.n_labels(u);
        for (std::int32_t k = 0; k < n; ++k) cost[k] = links_.unary(u, k);
        read_ += n;  // also where no pair is left: the search must end
        for (const Link& link : links_.of(u)) {
            if (parent_[link.other] != kOutside) continue;
            for (std::int32_t k = 0; k < n; ++k) cost[k] += links_.entry(link, u, k, labels_[link.other]);
            read_ += n;
        }
    }

    std::int32_t parent_of(std::int32_t u) const { return links_.other_end(parent_[u], u); }

    void send(std::int32_t u) {
        if (parent_[u] < 0) return;
        const std::int32_t v = parent_of(u), rows = links_.n_labels(u), columns = links_.n_labels(v);
        const Link link{v, parent_[u]};
        const double* own = costs_.data() + cost_at_[place_[u]];
        double* other = costs_.data() + cost_at_[place_[v]];
        for (std::int32_t l = 0; l < columns; ++l) {
            double best = kInfinity;
            for (std::int32_t k = 0; k < rows; ++k) best = std::min(best, own[k] + links_.entry(link, u, k, l));
            other[l] += best;
        }
        read_ += static_cast<double>(rows) * columns;
    }

    // Ties go to a random label, so that plateaus are left.
    void choose(std::int32_t u) {
        const double* own = costs_.data() + cost_at_[place_[u]];
        const std::int32_t n = links_.n_labels(u);
        const auto cost = [&](std::int32_t k) {
            return parent_[u] < 0 ? own[k] : own[k] + links_.entry({0, parent_[u]}, u, k, labels_[parent_of(u)]);
        };
        std::int32_t k = static_cast<std::int32_t>(below(n)), best = k;
        double least = cost(k);
        for (std::int32_t i = 1; i < n; ++i) {
            k = k + 1 < n ? k + 1 : 0;
            if (const double x = cost(k); x < least) least = x, best = k;
        }
        labels_[u] = best;
    }

    // All terms at these nodes; window_of_ marks them.
    double energy_of(const std::vector<std::int32_t>& nodes) {
        double sum = 0.0;
        for (const std::int32_t u : nodes) {
            sum += links_.unary(u, labels_[u]);
            for (const Link& link : links_.of(u)) {
                if (window_of_[link.other] && link.other < u) continue;
                sum += links_.entry(link, u, labels_[u], labels_[link.other]);
            }
            read_ += static_cast<double>(links_.of(u).size());
        }
        return sum;
    }

    void whole() {
        if (links_.entries() > kEntriesOfWhole) return;
        double now = whole_energy();
        for (int in_vain = 0; in_vain < kWholeInVain && !stops();) {
            optimise(links_.nodes());
            const double after = whole_energy();
            in_vain = after < now ? 0 : in_vain + 1;
            now = after;
        }
    }

    // A random node and those nearest to it, in the order in which they are reached.
    void choose_window(std::int64_t size) {
        const auto& core = links_.nodes();
        window_.assign(1, core[static_cast<std::size_t>(below(std::ssize(core)))]);
        window_of_[window_[0]] = 1;
        for (std::size_t i = 0; i < window_.size() && std::ssize(window_) < size; ++i) {
            const auto near = links_.of(window_[i]);
            const std::int64_t degree = std::ssize(near);
            const std::int64_t begin = degree > 0 ? below(degree) : 0;
            for (std::int64_t d = 0; d < degree && std::ssize(window_) < size; ++d) {
                const std::int32_t v = near[static_cast<std::size_t>((begin + d) % degree)].other;
                if (window_of_[v]) continue;
                window_of_[v] = 1;
                window_.push_back(v);
            }
            read_ += static_cast<double>(degree);
        }
    }

    // Cycles of growing length. The first only goes down; the others also go up, less and less, from the best labeling
    // so far (simulated annealing over windows), and count if they end lower. In these, what is forbidden costs little
    // at first (strategic oscillation, Glover 1977), and more than all else at the end.
    // A later run goes on with the next cycle, unless it was given better labels than are known.
    void windows(TreeSearchResult& out) {
        if (keep_better()) cycle_ = 0;
        if (!kernel_ && links_.forbids() && links_.entries() <= kEntriesOfKernel) kernel_.emplace(reduced_);
        if (kernel_ && kernel_->size() == 0) {  // then this is the optimum
            kernel_->complete(labels_);
            keep_better();
            return;
        }
        while (!stops()) {
            cycle(out);
            if (stopped_) return;
            ++cycle_, length_ += length_ / 2;
            if (kernel_) restarts(out);
        }
    }

    void cycle(TreeSearchResult& out) {
        const double high = links_.scale() * (1.0 - cycle_ % 3 / 4.0),
                     highest = cycle_ == 0 ? 0.0 : kHighestTemperature * high;
        for (std::int64_t i = 0; i < length_ && !stops(); ++i) {
            const double left = 1.0 - static_cast<double>(i) / static_cast<double>(length_);
            cycle_ > 0 && left > kHardPart ? links_.soften(kLowestPenalty * high / left) : links_.harden();
            window(highest * left, out);
        }
        links_.harden();
        keep_better();
    }

    // Goes on from the best labeling so far; whether that is a new one.
    bool keep_better() {
        const double now = whole_energy();
        if (now < best_) return best_ = now, best_labels_ = labels_, true;
        labels_ = best_labels_;
        return false;
    }

    // As much work as the rest has done: a new labeling by annealing, mended by windows, then recombined with others
    // made so and with the best one.
    void restarts(TreeSearchResult& out) {
        Annealing annealing(*kernel_);
        while (restarted_ < read_ - restarted_ && !stops()) {
            const double begun = read_;
            const double penalty = kLeastPenalty * std::pow(kMostPenalty / kLeastPenalty, uniform());
            const double sweeps = std::max(annealed_ / kernel_->size(), 1.0);
            annealing.run(static_cast<std::int64_t>(sweeps), penalty, random_(), labels_, [&](double read) {
                read_ += read;
                return stops();
            });
            for (const double took = read_ - begun; read_ - begun < kWithMending * took && !stops();) window(0.0, out);
            join_elites();
            annealed_ = std::min(kGrowth * annealed_, kLongestAnnealing);
            restarted_ += read_ - begun;
        }
    }

    void join_elites() {
        if (stops()) {
            keep_better();
            return;
        }
        const double value = whole_energy();
        const std::vector<std::int32_t> made = labels_;
        for (int i = 0; i < kParents && !elites_.empty(); ++i)
            read_ += recombine(links_, elites_[static_cast<std::size_t>(below(std::ssize(elites_)))].labels, labels_,
                               random_);
        read_ += recombine(links_, best_labels_, labels_, random_);
        keep_better();
        const auto worst =
            std::max_element(elites_.begin(), elites_.end(), [](auto& a, auto& b) { return a.value < b.value; });
        if (elites_.size() < kMostElites)
            elites_.push_back({value, made});
        else if (value < worst->value)
            *worst = {value, made};
    }

    double whole_energy() {
        for (const std::int32_t u : links_.nodes()) window_of_[u] = 1;
        const double sum = energy_of(links_.nodes());
        for (const std::int32_t u : links_.nodes()) window_of_[u] = 0;
        return sum;
    }

    // A window with some labels changed at random and then the best for most of its nodes, taken back where that
    // ends too high. Where something is forbidden, forests move little, and elimination, which is slower, gets as much
    // work as they.
    void window(double temperature, TreeSearchResult& out) {
        const bool by_forests = !links_.forbids() || read_ - eliminated_ <= eliminated_;
        choose_window(1 + below(std::min(by_forests ? kLargestWindow : kLargestBlock, std::ssize(links_.nodes()))));
        const double before = energy_of(window_);
        kept_.clear();
        for (const std::int32_t u : window_) kept_.push_back(labels_[u]);
        by_forests ? kick_and_grow() : kick_and_eliminate();
        const double change = energy_of(window_) - before;
        ++out.moves, out.improvements += change < 0.0;
        if (change > 0.0 && !(temperature > 0.0 && change < -temperature * std::log(uniform())))
            for (std::size_t i = 0; i < window_.size(); ++i) labels_[window_[i]] = kept_[i];
        for (const std::int32_t u : window_) window_of_[u] = 0;
    }

    void kick(std::int32_t u) { labels_[u] = static_cast<std::int32_t>(below(links_.n_labels(u))); }

    // Random labels in the middle, then forests.
    void kick_and_grow() {
        const std::int64_t kicked = std::min(below(std::ssize(window_) / 2 + 2), std::ssize(window_));
        for (std::int64_t i = 0; i < kicked; ++i) kick(window_[i]);
        for (int i = 0; i < kForestsOfWindow; ++i) optimise(window_);
    }

    // Random labels for few of the nodes that elimination leaves out.
    void kick_and_eliminate() {
        const double begun = elimination_.read();
        const std::int64_t digits = kSmallestTable + below(kLargestTable - kSmallestTable + 1);
        elimination_.plan(window_, std::ldexp(1.0, static_cast<int>(digits)), random_);
        const auto& left = elimination_.kept();
        if (!left.empty())
            for (std::int64_t i = below(kKicks + 1); i > 0; --i)
                kick(left[static_cast<std::size_t>(below(std::ssize(left)))]);
        elimination_.run(labels_, random_);
        read_ += elimination_.read() - begun;
        eliminated_ += elimination_.read() - begun;
    }

    double uniform() { return (static_cast<double>(random_() >> 11) + 0.5) * 0x1p-53; }

    Reduction reduced_;
    const StopTest* stop_ = nullptr;
    std::mt19937_64 random_;
    std::vector<std::int32_t> labels_;
    Links links_;
    Elimination elimination_;
    std::vector<std::int32_t> forest_, order_, window_, kept_, place_;
    std::vector<std::int64_t> parent_, cost_at_;  // parent_: the pair to it, kRoot, or kOutside
    std::vector<char> inside_, window_of_;
    std::vector<std::pair<std::int32_t, std::int64_t>> front_;
    std::vector<double> costs_;
    std::optional<Kernel> kernel_;
    std::vector<Elite> elites_;
    std::vector<std::int32_t> best_labels_;
    double best_ = kInfinity, annealed_ = kFirstAnnealing;
    double read_ = 0.0, most_ = 0.0, eliminated_ = 0.0, restarted_ = 0.0, next_test_ = 0.0;
    int cycle_ = 0;
    std::int64_t length_ = 0;  // of the next cycle
    bool stopped_ = false;
};

TreeSearch::TreeSearch(const EnergyView& energy, std::uint64_t seed)
    : energy_(energy), search_(std::make_unique<Search>(energy, seed)) {}

TreeSearch::~TreeSearch() = default;

TreeSearchResult TreeSearch::run(std::vector<std::int32_t> labels, double most_entries, const StopTest& stop) {
    terms(energy_, labels);  // checks them
    return search_->run(std::move(labels), most_entries, stop);
}

}  // namespace gapcut::infer
