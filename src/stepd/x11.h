// stepd/x11.h
//
// srun --x11: a display for the tasks of this node. Connections to 127.0.0.1:6000+N are carried
// over the connection to srun, which has the X server. The X server's cookie is in a file of the
// user in the job's directory, and the X server alone decides whether a client may connect.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "order.pb.h"
#include "os/channels.h"
#include "os/user.h"
#include "stepd/environment.h"

namespace sluice {

class X11Display {
public:
    using Send = std::function<void(const wire::X11Data&)>;
    // `on_drained`: a client has read all that was sent to it.
    static Result<std::unique_ptr<X11Display>> open(EventLoop& loop, const wire::StepOrder& order,
                                                    const User& user, Send send,
                                                    std::function<void()> on_drained);
    ~X11Display();

    void set_variables(Environment& environment) const;
    void on_data(const wire::X11Data& data);  // from srun
    void read_more(bool wanted) { channels_.read_more(wanted); }
    std::size_t backlog() const { return channels_.backlog(); }

private:
    X11Display(EventLoop& loop, Send send, std::function<void()> on_drained);
    Result<void> listen();
    void accept();
    void tell(std::uint32_t number, std::string_view data, bool closed);

    EventLoop& loop_;
    Send send_;
    Channels channels_;
    Fd listener_;
    std::uint32_t next_ = 1;
    std::uint32_t number_ = 0;  // of the display
    std::uint32_t screen_ = 0;
    std::string authority_;  // the path of the file
};

// A file of the user that only it can read.
Result<void> write_authority(const std::string& path, std::string_view content, const User& user);
// The content of the file: the cookie for every address of display `number`.
std::string authority_entry(std::uint32_t number, std::string_view cookie);

}  // namespace sluice
