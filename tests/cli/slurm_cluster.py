# SPDX-License-Identifier: Apache-2.0
"""A Slurm of one node in a directory of its own: munge, slurmctld and slurmd, started by hand, without accounting."""

import os
import shutil
import socket
import subprocess
import time

PROGRAMS = ("munged", "mungekey", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel")
CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}
SlurmUser=root
SlurmctldPort={controller_port}
SlurmdPort={node_port}
AuthType=auth/munge
AuthInfo=socket={place}/munge.socket
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
MpiDefault=none
SchedulerParameters=bf_interval=1,sched_interval=1,batch_sched_delay=0
MaxArraySize={most_tasks}
MinJobAge=2
KillWait=1
ReturnToService=2
JobRequeue=1
StateSaveLocation={place}/state
SlurmdSpoolDir={place}/spool
SlurmctldPidFile={place}/slurmctld.pid
SlurmdPidFile={place}/slurmd.pid
SlurmctldLogFile={place}/slurmctld.log
SlurmdLogFile={place}/slurmd.log
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 RealMemory=1000 State=UNKNOWN
PartitionName=debug Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def why_not():
    """Why no cluster can be started here; empty: one can."""
    missing = [name for name in PROGRAMS if not shutil.which(name, path=PATH)]
    if missing:
        return "there is no " + ", ".join(missing)
    return "" if os.getuid() == 0 else "the daemons must be started by root"


PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


class Cluster:
    """Starts it; close() ends its daemons and what runs."""

    def __init__(self, place, most_tasks):
        self.place = place
        self.host = socket.gethostname().split(".")[0]
        for name in ("state", "spool"):
            os.makedirs(os.path.join(place, name), exist_ok=True)
        self.daemons = []
        self.environment = dict(os.environ, PATH=PATH, SLURM_CONF=os.path.join(place, "slurm.conf"))
        with open(self.environment["SLURM_CONF"], "w", encoding="utf-8") as file:
            file.write(CONFIGURATION.format(host=self.host, place=place, most_tasks=most_tasks,
                                            controller_port=free_port(), node_port=free_port()))
        os.chmod(place, 0o755)
        key = os.path.join(place, "munge.key")
        self.call("mungekey", "--create", "--keyfile", key)
        self.start("munged", "--foreground", "--force", "--key-file", key, *(
            f"--{name}={place}/munge.{ending}" for name, ending in
            (("socket", "socket"), ("pid-file", "pid"), ("log-file", "log"), ("seed-file", "seed"))))
        self.wait_for(lambda: os.path.exists(os.path.join(place, "munge.socket")))
        self.start("slurmctld", "-D")
        self.start("slurmd", "-D", "-N", self.host)
        self.wait_for(lambda: "idle" in self.output("sinfo", "-h", "-o", "%t"))

    def start(self, *command):
        with open(os.path.join(self.place, command[0] + ".out"), "wb") as log:
            self.daemons.append(subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=log,
                                                 stderr=log, start_new_session=True))

    def call(self, *command):
        return subprocess.run(command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=True, timeout=60)

    def output(self, *command):
        result = subprocess.run(command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                text=True, check=False, timeout=60)
        return result.stdout

    def call_for_errors(self, *command):
        return subprocess.run(command, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              check=False, timeout=60).stderr

    def running(self):
        """(array job, task, state) of what waits or runs."""
        lines = self.output("squeue", "-h", "-r", "-o", "%F %K %t").split("\n")
        return [tuple(line.split()) for line in lines if line]

    @staticmethod
    def wait_for(condition, seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError("the cluster has not come to the expected state")
            time.sleep(0.1)

    def close(self):
        self.output("scancel", "--me")
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in self.daemons:
            try:
                daemon.wait(timeout=10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
