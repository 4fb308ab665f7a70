"""`module load` in batch scripts, with environment-modules and Lmod, and what --export and --get-user-env leave of the
submitter's environment."""

import os
from pathlib import Path

import pytest

INITS = [Path("/usr/share/modules/init/bash"), Path("/usr/share/lmod/lmod/init/bash")]  # of which one is installed
INIT = next((path for path in INITS if path.exists()), None)
needs_modules = pytest.mark.skipif(INIT is None, reason="needs environment-modules or lmod of packaging/debian-packages-test")


@pytest.fixture
def modules(shared):
    """A directory with the module `tool`."""
    directory = shared.dir / "modules"
    directory.mkdir(exist_ok=True)
    (directory / "tool").write_text("#%Module1.0\nsetenv TOOL loaded\nprepend-path PATH /opt/tool\n")
    return directory


@needs_modules
@pytest.mark.parametrize("export", ["ALL", "NONE", "NIL"])
def test_a_login_shell_has_the_module_command(shared, modules, export):
    # The profile of the system sets PATH anew.
    record, out = shared.run_job(f"#!/bin/bash -l\nmodule use {modules}\nmodule load tool\n"
                                 f"{shared.prefix}/bin/srun --export=ALL sh -c 'echo $TOOL; echo $PATH'\n", f"--export={export}")
    assert record["JobState"] == "COMPLETED", out
    assert "loaded\n" in out and "/opt/tool:" in out


@needs_modules
def test_another_shell_loads_it_itself(shared, modules):
    record, out = shared.run_job(f"#!/bin/bash\n. {INIT}\nmodule use {modules}\nmodule load tool\nsrun sh -c 'echo $TOOL'\n")
    assert record["JobState"] == "COMPLETED", out
    assert "loaded\n" in out


@needs_modules
def test_a_shell_function_is_handed_on(shared, modules):
    """What `module` is in the shell of a user who runs sbatch."""
    script = shared.dir / "work" / "function.sh"
    script.write_text("#!/bin/bash\nmodule load tool\necho $TOOL\n")
    result = shared.run("bash", "-lc", f". {INIT}; module use {modules}; {shared.prefix}/bin/sbatch --wait -o function.out {script}")
    assert result.returncode == 0
    assert (shared.dir / "work" / "function.out").read_text() == "loaded\n"


@pytest.mark.parametrize("export, expected", [
    ("ALL", "yes::also"), ("NONE", "::"), ("NIL", "::"), ("KEPT", "yes::"), ("NEW=1", ":1:"), ("ALL,NEW=1", "yes:1:also"),
    ("KEPT,NEW=a b", "yes:a b:"), ("NEW=1,KEPT,OTHER", "yes:1:also"), ("NOWHERE,KEPT", "yes::"), ("ALL,KEPT=new", "new::also")])
def test_export_of_sbatch_and_srun(shared, export, expected):
    env = {"KEPT": "yes", "OTHER": "also"}
    show = 'echo "$KEPT:$NEW:$OTHER"'
    job = shared.submit(f"#!/bin/sh\n{show}\n", f"--export={export}", env=env)
    shared.wait_end(job)
    assert shared.output(job).splitlines()[-1] == expected
    assert shared.run("srun", f"--export={export}", "/bin/sh", "-c", show, env=env).stdout.strip() == expected


def test_a_step_of_a_job_gets_what_the_job_exported(shared):
    """SLURM_EXPORT_ENV hands --export on to the sruns of the script."""
    body = 'echo "$SLURM_EXPORT_ENV"; KEPT=later; LATE=1; export KEPT LATE; /usr/bin/env srun /bin/sh -c "echo \\$KEPT:\\$LATE"'
    path = f"{shared.prefix}/bin:/usr/bin:/bin"
    _, out = shared.run_job(body, f"--export=KEPT,PATH={path}", env={"KEPT": "yes"})
    assert out.splitlines()[0].startswith("KEPT,PATH=")
    assert out.splitlines()[-1] == "later:"


def test_get_user_env_is_the_login_environment(shared):
    job = shared.submit("#!/bin/sh\necho $HOME:$USER:$KEPT\n", "--get-user-env", "--export=NONE", env={"KEPT": "yes"})
    shared.wait_end(job)
    home, user, kept = shared.output(job).splitlines()[-1].split(":")
    assert home == os.path.expanduser(f"~{shared.user}") and user == shared.user and kept == ""
