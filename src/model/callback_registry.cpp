// Callbacks by name.
#include "config/lasting_registry.h"
#include "config/own_class.h"

#include <anyshape/callback.h>
#include <anyshape/register.h>

namespace anyshape {
namespace {

struct PathArguments {
  std::string path;
};
struct FileArguments {
  std::filesystem::path file;
};
struct ScheduleArguments {
  std::function<double(int64_t, double)> schedule;
};
struct NoOptions {};

// A callback that takes more than its options: `parts` gives what it was made of.
template <class Own, class... Parts>
detail::RegistryEntry entry(std::string name, AnyCallback (*make)(Parts...), std::tuple<Parts...> (*parts)(const Own&)) {
  detail::RegistryEntry made = detail::registered(name, make);
  made.type = &typeid(Own);
  made.config_of = [name, parts](const void* object) {
    const auto& own = static_cast<const Own&>(*static_cast<const Callback*>(object));
    return std::apply([&](const auto&... each) { return detail::made_from(name, each...)->config(); }, parts(own));
  };
  return made;
}

}  // namespace

template <>
Registry& registry_of<AnyCallback>() {
  return lasting_registry([] {
    auto* const made = new Registry("callback");
    made->table().add(entry<ModelCheckpoint>(
        "ModelCheckpoint", +[](PathArguments a, ModelCheckpointOptions o) -> AnyCallback { return ModelCheckpoint(a.path, std::move(o)); },
        +[](const ModelCheckpoint& own) { return std::tuple(PathArguments{own.path()}, own.options()); }));
    made->table().add(entry<CSVLogger>(
        "CSVLogger", +[](FileArguments a, CSVLoggerOptions o) -> AnyCallback { return CSVLogger(a.file, o); },
        +[](const CSVLogger& own) { return std::tuple(FileArguments{own.file()}, own.options()); }));
    made->table().add(entry<LearningRateScheduler>(
        "LearningRateScheduler", +[](ScheduleArguments a, NoOptions) -> AnyCallback { return LearningRateScheduler(a.schedule); },
        +[](const LearningRateScheduler& own) { return std::tuple(ScheduleArguments{own.schedule()}, NoOptions()); }));
    made->table().add(detail::class_entry<AnyCallback, EarlyStopping, Callback>("EarlyStopping"));
    made->table().add(detail::class_entry<AnyCallback, LambdaCallback, Callback>("LambdaCallback"));
    made->table().add(detail::class_entry<AnyCallback, ReduceLROnPlateau, Callback>("ReduceLROnPlateau"));
    made->table().add(detail::class_entry<AnyCallback, TerminateOnNaN, Callback>("TerminateOnNaN"));
    return made;
  });
}

Config AnyCallback::config() const { return config_of_own(registry_of<AnyCallback>(), *callback_); }

}  // namespace anyshape
