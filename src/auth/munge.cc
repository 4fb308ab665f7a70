// auth/munge.cc
//
// See munge.h.
#include "auth/munge.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <munge.h>

#include <cstdlib>
#include <ctime>
#include <memory>

#include "model/errors.h"

namespace sluice {

namespace {

struct Library {
    decltype(&munge_encode) encode = nullptr;
    decltype(&munge_decode) decode = nullptr;
    decltype(&munge_ctx_create) ctx_create = nullptr;
    decltype(&munge_ctx_destroy) ctx_destroy = nullptr;
    decltype(&munge_ctx_get) ctx_get = nullptr;
    decltype(&munge_ctx_set) ctx_set = nullptr;
    decltype(&munge_ctx_strerror) ctx_strerror = nullptr;
    decltype(&munge_strerror) strerror = nullptr;
};

template <typename Function>
bool find(void* handle, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    return function != nullptr;
}

Result<Library> load_library() {
    void* handle = dlopen("libmunge.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        return Error{ErrorCode::AuthenticationFailed,
                     fmt::format("AuthType=auth/munge needs libmunge, which cannot be loaded: {}",
                                 dlerror())};
    }
    Library library;
    const bool complete = find(handle, "munge_encode", library.encode) &&
                          find(handle, "munge_decode", library.decode) &&
                          find(handle, "munge_ctx_create", library.ctx_create) &&
                          find(handle, "munge_ctx_destroy", library.ctx_destroy) &&
                          find(handle, "munge_ctx_get", library.ctx_get) &&
                          find(handle, "munge_ctx_set", library.ctx_set) &&
                          find(handle, "munge_ctx_strerror", library.ctx_strerror) &&
                          find(handle, "munge_strerror", library.strerror);
    if (!complete) {
        return Error{ErrorCode::AuthenticationFailed,
                     fmt::format("libmunge.so.2 lacks a function: {}", dlerror())};
    }
    return library;
}

// Loaded once per process; an installation that follows needs a restart.
const Result<Library>& library() {
    static const Result<Library> loaded = load_library();
    return loaded;
}

// A context may serve one thread at a time, so each call makes its own.
class Context {
public:
    Context(const Library& library, const std::string& socket)
        : library_(library), context_(library.ctx_create()) {
        if (context_ && !socket.empty()) {
            library_.ctx_set(context_, MUNGE_OPT_SOCKET, socket.c_str());
        }
    }
    ~Context() { library_.ctx_destroy(context_); }
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    munge_ctx_t get() const { return context_; }
    void restrict_to(UserId reader) const {
        library_.ctx_set(context_, MUNGE_OPT_UID_RESTRICTION, static_cast<uid_t>(reader.value));
    }
    std::string_view socket() const {
        const char* path = nullptr;
        if (library_.ctx_get(context_, MUNGE_OPT_SOCKET, &path) != EMUNGE_SUCCESS || !path)
            return "";
        return path;
    }
    std::time_t time(munge_opt_t which) const {
        std::time_t seconds = 0;
        library_.ctx_get(context_, which, &seconds);
        return seconds;
    }
    std::string_view message(munge_err_t error) const {
        const char* text = context_ ? library_.ctx_strerror(context_) : nullptr;
        return text ? text : library_.strerror(error);
    }

private:
    const Library& library_;
    munge_ctx_t context_;
};

Error explain(const Context& context, munge_err_t error) {
    const auto encoded = context.get() ? context.time(MUNGE_OPT_ENCODE_TIME) : 0;
    const auto decoded = context.get() ? context.time(MUNGE_OPT_DECODE_TIME) : 0;
    switch (error) {
        case EMUNGE_SOCKET:
            return {ErrorCode::AuthenticationFailed,
                    fmt::format("munged cannot be reached at {}: is it running? ({})",
                                context.socket(), context.message(error))};
        case EMUNGE_CRED_REWOUND:
            return {
                ErrorCode::ClockSkew,
                fmt::format("the MUNGE credential was made at {} by its host's clock, but here "
                            "it is {}: the sender's clock is {} seconds ahead, or ours is behind",
                            encoded, decoded, encoded - decoded)};
        case EMUNGE_CRED_EXPIRED:
            return {ErrorCode::ClockSkew,
                    fmt::format("the MUNGE credential was made at {} by its host's clock, and here "
                                "it is {}: it took {} seconds to get here, or the sender's clock "
                                "is behind, or ours is ahead",
                                encoded, decoded, decoded - encoded)};
        case EMUNGE_CRED_REPLAYED:
            return {ErrorCode::CredentialReplayed, "the MUNGE credential has been used before"};
        case EMUNGE_CRED_UNAUTHORIZED:
            return {ErrorCode::AuthenticationFailed,
                    "the MUNGE credential was made for another user to read"};
        case EMUNGE_CRED_INVALID:
            return {
                ErrorCode::AuthenticationFailed,
                "the MUNGE credential is not valid here: do both hosts have the same munge.key?"};
        default:
            return {ErrorCode::AuthenticationFailed,
                    fmt::format("MUNGE: {}", context.message(error))};
    }
}

struct Free {
    void operator()(void* memory) const { std::free(memory); }
};

}  // namespace

Result<std::string> Munge::encode(std::string_view payload, std::optional<UserId> reader) const {
    const Library library = TRY(sluice::library());
    const Context context(library, socket_);
    if (reader) context.restrict_to(*reader);
    char* credential = nullptr;
    const munge_err_t error = library.encode(&credential, context.get(), payload.data(),
                                             static_cast<int>(payload.size()));
    const std::unique_ptr<char, Free> owner(credential);
    if (error != EMUNGE_SUCCESS) return explain(context, error);
    return std::string(credential);
}

Result<Munge::Decoded> Munge::decode(const std::string& credential) const {
    const Library library = TRY(sluice::library());
    const Context context(library, socket_);
    void* payload = nullptr;
    int size = 0;
    uid_t user = 0;
    gid_t group = 0;
    const munge_err_t error =
        library.decode(credential.c_str(), context.get(), &payload, &size, &user, &group);
    const std::unique_ptr<void, Free> owner(payload);
    if (error != EMUNGE_SUCCESS) return explain(context, error);
    Decoded decoded{.identity = {UserId{user}, GroupId{group}}, .payload = {}};
    if (size > 0) decoded.payload.assign(static_cast<const char*>(payload), size);
    return decoded;
}

Result<Identity> Munge::check(const std::string& credential, std::string_view payload) const {
    const Decoded decoded = TRY(decode(credential));
    if (decoded.payload == payload) return decoded.identity;
    return Error{ErrorCode::AuthenticationFailed,
                 "the MUNGE credential was made for another connection or another daemon"};
}

}  // namespace sluice
