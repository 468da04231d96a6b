import type { Attempt } from './attempt.ts';

const files: readonly Attempt[] = [
  { name: 'the passwords of the host', like: 'host files in the image', script: 'content "$R/etc/shadow" "$R/etc/shadow-" "$R/etc/gshadow"' },
  {
    name: 'a file in a home directory',
    like: 'host files in the image',
    script: 'cat "$R$homeFile"; find "$R/root" "$R/home" -maxdepth 2 -name "moor-canary*" -exec cat {} +',
  },
  {
    name: 'SSH keys of the host',
    like: 'host files in the image',
    script: 'content "$R"/etc/ssh/ssh_host_*_key "$R"/root/.ssh/id_* "$R"/home/*/.ssh/id_*',
    needs: '/etc/ssh/ssh_host_ed25519_key',
  },
  {
    name: 'the key of the cluster’s CA',
    like: 'host files in the image',
    script: 'content "$R$dataDir/pki/ca.key"; find "$R$dataDir" -name "*.key" -exec echo ESCAPED {} +',
  },
  { name: 'the administrator’s kubeconfig', like: 'host files in the image', script: 'content "$R$kubeconfig"' },
  { name: 'the host’s /tmp', like: 'host files in the image', script: 'cat "$R$temporaryFile"' },
  { name: 'the host’s shared memory', like: 'CVE-2018-15664: host files in the container', script: 'cat "$R$sharedMemoryFile"' },
  { name: 'a volume of another pod', like: 'paths of the kubelet', script: 'cat "$R$volumeFile"' },
  { name: 'the token of another pod', like: 'paths of the kubelet', script: 'content "$R$otherPod"/volumes/kubernetes.io~projected/*/token' },
  { name: 'a socket in /run', like: 'CVE-2019-0204: sockets of the host', script: '[ -S "$R$socket" ] && echo ESCAPED' },
  {
    name: 'a file by its handle',
    like: 'CVE-2014-3519: open_by_handle_at',
    script: `perl -e 'open(my $d, "<", $ARGV[1]); my $h = pack("LlQ", 8, 1, 2); syscall($ARGV[0] + 0, fileno($d), $h, 0) < 0 && (0 + $!) == 1 or print "ESCAPED $!\\n"' "$(number_of open_by_handle_at)" "$R/usr"`,
  },
  {
    name: 'out of a chroot',
    like: 'chroot',
    script: 'perl -e \'mkdir "/tmp/jail"; chroot "/tmp/jail"; chdir ".." for 1..64; chroot "."; exec "cat", @ARGV\' "$homeFile" "$temporaryFile" "$volumeFile"',
    undetected: 'the way ends at the root of the mount namespace, which a container has for itself whatever its rights',
  },
  { name: 'the root of any process', like: 'CVE-2022-0847: /proc/PID/root', script: 'cat /proc/[0-9]*/root"$temporaryFile" /proc/[0-9]*/root"$homeFile"' },
  {
    name: 'working directories of any process',
    like: 'CVE-2024-21626: /proc/PID/cwd',
    script: 'for up in . .. ../.. ../../.. ../../../..; do cat /proc/[0-9]*/cwd/$up"$temporaryFile"; done',
  },
  {
    name: 'descriptors of any process',
    like: 'CVE-2024-21626: leaked descriptors',
    script:
      'for fd in /proc/[0-9]*/fd/*; do case $(readlink "$fd") in /dev/null | pipe:* | socket:* | /proc/* | /attempts* | "") ;; *) echo "ESCAPED $fd $(readlink "$fd")"; exit ;; esac; done',
  },
  {
    name: 'more descriptors than three',
    like: 'CVE-2016-9962: leaked descriptors',
    script:
      'for process in /proc/[0-9]*; do case $(cat $process/comm) in sleep | node) ;; *) continue ;; esac; for fd in $process/fd/*; do case $fd in */[012] | *\\*) ;; *) echo "ESCAPED $fd"; exit ;; esac; done; done',
  },
];

const kernelFiles: readonly Attempt[] = [
  { name: 'the pattern of core dumps', like: 'CVE-2025-31133: core_pattern', script: 'writable /proc/sys/kernel/core_pattern' },
  {
    name: 'the helper that loads modules',
    like: 'modprobe path',
    script: 'writable /proc/sys/kernel/modprobe /proc/sys/kernel/hotplug /proc/sys/kernel/poweroff_cmd',
  },
  { name: 'the key that reboots', like: 'CVE-2023-28642: sysrq', script: 'writable /proc/sysrq-trigger', needs: '/proc/sysrq-trigger' },
  {
    name: 'kernel parameters',
    like: 'CVE-2016-8867: /proc/sys',
    script: 'writable /proc/sys/vm/drop_caches /proc/sys/kernel/randomize_va_space /proc/sys/fs/file-max /proc/sys/vm/overcommit_memory',
  },
  { name: 'parameters of the network', like: '/proc/sys/net', script: 'writable /proc/sys/net/ipv4/ip_forward /proc/sys/net/core/somaxconn' },
  {
    name: 'interrupts and buses',
    like: 'CVE-2023-25809: read-only paths',
    script: 'writable /proc/irq/default_smp_affinity /proc/irq/*/smp_affinity; find /proc/bus -type f -exec sh -c \'(: >>"$1") && echo ESCAPED\' sh {} \\;',
  },
  { name: 'memory of the kernel', like: 'masked paths', script: 'content /proc/kcore /dev/mem /dev/kmem /dev/port', needs: '/proc/kcore' },
  { name: 'keys of all users', like: 'CVE-2018-10892: masked paths', script: 'content /proc/keys' },
  { name: 'timers and the scheduler', like: 'CVE-2018-10892: masked paths', script: 'content /proc/timer_list /proc/sched_debug /proc/latency_stats' },
  {
    name: 'devices of ACPI and SCSI',
    like: 'CVE-2017-16539: masked paths',
    script: 'for file in $(find /proc/acpi /proc/scsi -type f); do echo "ESCAPED $file"; done',
    needs: '/proc/scsi/scsi',
  },
  { name: 'firmware', like: 'masked paths', script: 'for file in $(find /sys/firmware -type f); do echo "ESCAPED $file"; done' },
  {
    name: 'files of /sys',
    like: 'CVE-2023-27561: /sys',
    script: 'writable /sys/kernel/uevent_helper /sys/kernel/profiling /sys/power/state /sys/module/*/parameters/* /sys/kernel/mm/transparent_hugepage/enabled',
  },
  {
    name: 'control groups',
    like: 'CVE-2023-25809: writable control groups',
    script:
      'for file in $(find /sys/fs/cgroup "$R/sys/fs/cgroup" -maxdepth 2 -name cgroup.procs -o -name release_agent -o -name pids.max -o -name memory.max -o -name memory.limit_in_bytes -o -name devices.allow); do writable $file; done; mkdir /sys/fs/cgroup/moor-canary && echo ESCAPED && rmdir /sys/fs/cgroup/moor-canary',
  },
];

const kernelCalls: readonly Attempt[] = [
  { name: 'a mount', like: 'mount', script: 'mount -t tmpfs none /mnt && echo ESCAPED && umount /mnt' },
  {
    name: 'a mount by the new calls',
    like: 'CVE-2022-0185: fsopen',
    script: 'permitted fsopen tmpfs 0; permitted open_tree -100 / 1; permitted move_mount -1 "" -1 "" 0',
  },
  {
    name: 'a mount that is writable again',
    like: 'remount',
    script: 'for target in /sys /proc/sys /; do mount -o remount,bind,rw $target && echo "ESCAPED $target"; done',
  },
  {
    name: 'a mask that is removed',
    like: 'CVE-2023-28642: masked paths',
    script: 'for target in /proc/keys /proc/acpi /proc/sys /sys/firmware /dev/shm; do umount -l $target && echo "ESCAPED $target"; done',
  },
  { name: 'another root', like: 'pivot_root', script: 'permitted pivot_root / /' },
  {
    name: 'namespaces of other processes',
    like: 'nsenter',
    script: 'for process in /proc/[0-9]*; do nsenter -t ${process#/proc/} -m cat "$temporaryFile" && exit; done',
  },
  {
    name: 'the command that the last process of a control group runs',
    like: 'release_agent',
    script: 'mkdir -p /tmp/group; { mount -t cgroup -o memory none /tmp/group || mount -t cgroup2 none /tmp/group; } && echo ESCAPED && umount /tmp/group',
  },
  {
    name: 'the same as root of a user namespace',
    like: 'CVE-2022-0492: release_agent',
    script:
      "unshare -UrmC sh -c 'mount -t cgroup -o memory none /mnt; for file in /mnt/release_agent /sys/fs/cgroup/*/release_agent; do [ -e $file ] && (: >>$file) && echo ESCAPED; done'",
    undetected: 'the kernel permits it in the first user namespace only',
  },
  {
    name: 'what is masked, as root of a user namespace',
    like: 'CVE-2023-0386: user namespaces',
    script:
      "unshare -Urmpf sh -c 'mount -t proc none /mnt && cat /mnt/keys && echo ESCAPED; mount -t sysfs none /mnt && echo ESCAPED; : >>/proc/sys/kernel/core_pattern && echo ESCAPED'",
    undetected: 'nothing is masked there, so the kernel lets it mount another /proc',
  },
  {
    name: 'the host’s disk by a device node',
    like: 'mknod',
    script:
      'for place in /tmp /dev; do mknod $place/disk b $disk && echo ESCAPED; head -c 512 $place/disk | grep -q . && echo ESCAPED; rm -f $place/disk; done',
  },
  {
    name: 'memory and the kernel’s log by device nodes',
    like: 'mknod',
    script: 'mknod /tmp/mem c 1 1 && echo ESCAPED; mknod /tmp/kmsg c 1 11 && echo ESCAPED; mknod /tmp/tun c 10 200 && echo ESCAPED',
  },
  {
    name: 'devices in /dev',
    like: 'device nodes',
    script: 'for file in $(find /dev -type b) /dev/mem /dev/kmsg /dev/port /dev/fuse /dev/kvm /dev/loop-control; do [ -e $file ] && echo "ESCAPED $file"; done',
    undetected: 'privileged containers get no devices of the host here',
  },
  {
    name: 'a module of the kernel',
    like: 'CAP_SYS_MODULE',
    script: 'permitted finit_module -1 "" 0; permitted delete_module moor-canary 0',
    needs: '/proc/modules',
  },
  { name: 'programs in the kernel', like: 'CVE-2021-3490: bpf', script: 'permitted bpf 11 abcdefgh 8' },
  { name: 'a reboot', like: 'CAP_SYS_BOOT', script: 'permitted reboot 0 0 0 0' },
  { name: 'swap and accounting', like: 'CAP_SYS_ADMIN, CAP_SYS_PACCT', script: 'permitted swapon /nothing 0; permitted acct /nothing' },
  { name: 'the clock', like: 'CAP_SYS_TIME', script: 'permitted settimeofday 0 0' },
  { name: 'the scheduler’s priorities', like: 'CAP_SYS_NICE', script: 'permitted setpriority 0 0 -5' },
  { name: 'the name of the host', like: 'CAP_SYS_ADMIN', script: 'permitted sethostname "$(hostname)" "$(hostname | tr -d \'\\n\' | wc -c)"' },
];

const processes: readonly Attempt[] = [
  {
    name: 'a signal to another pod',
    like: 'process namespaces',
    script: 'kill -0 $otherProcess && grep -q moor-canary /proc/$otherProcess/cmdline && echo ESCAPED',
  },
  { name: 'a signal to the shim', like: 'process namespaces', script: 'kill -0 $shim && grep -q container-shim /proc/$shim/cmdline && echo ESCAPED' },
  {
    name: 'tracing a process of another pod',
    like: 'CVE-2019-5736: ptrace',
    script: 'grep -q moor-canary /proc/$otherProcess/cmdline && permitted ptrace 16902 $otherProcess 0 0',
  },
  {
    name: 'memory of the shim',
    like: 'CVE-2016-9962: ptrace',
    script: 'grep -q container-shim /proc/$shim/cmdline && permitted ptrace 16902 $shim 0 0; (: <"/proc/$shim/mem") && echo ESCAPED',
  },
  {
    name: 'variables of any process',
    like: '/proc/PID/environ',
    script: "for file in /proc/[0-9]*/environ; do tr '\\0' '\\n' <$file | grep OTHER_SECRET; done",
  },
  {
    name: 'arguments of the host’s processes',
    like: 'process namespaces',
    script: 'cat /proc/[0-9]*/cmdline | tr "\\0" " " | grep -q container-shi[m] && echo ESCAPED',
  },
  {
    name: 'the executable of the init',
    like: 'CVE-2019-5736: /proc/self/exe',
    script: 'for file in /proc/[0-9]*/exe; do case $(readlink $file) in *moor* | *memfd* | */node) echo "ESCAPED $(readlink $file)" ;; esac; done',
  },
  {
    name: 'capabilities of programs that are started',
    like: 'CVE-2022-24769: inheritable capabilities',
    script: 'grep -E "^Cap(Inh|Amb):.*[1-9a-f]" /proc/self/status && echo ESCAPED',
    undetected: 'no container has inheritable capabilities',
  },
  {
    name: 'more than the usual capabilities',
    like: 'CVE-2021-41091: capabilities',
    script:
      'grep -E "^Cap(Prm|Eff|Bnd):" /proc/self/status | while read -r set mask; do [ $((0x$mask & ~0xa00425fb)) -eq 0 ] || echo "ESCAPED $set $mask"; done',
  },
  {
    name: 'a key of the host’s session',
    like: 'CVE-2014-9529: keyrings',
    script:
      'perl -e \'my $type = "user"; my $id = syscall($ARGV[0] + 0, $type, $ARGV[2], 0, 0); exit if $id < 0; my $key = "\\0" x 200; syscall($ARGV[1] + 0, 11, $id, $key, 200); print $key\' "$(number_of request_key)" "$(number_of keyctl)" "$keyName"',
    undetected: 'every container has a session keyring of its own',
  },
  {
    name: 'input for the terminal',
    like: 'CVE-2016-7545: TIOCSTI',
    script:
      'perl -e \'for my $file ("/dev/tty", "/dev/console", glob("/dev/pts/[0-9]*")) { open(my $tty, "+<", $file) or next; my $byte = "x"; print "ESCAPED $file\\n" if ioctl($tty, 0x5412, $byte) }\'',
    undetected: 'no container has the host’s terminal',
  },
];

const network: readonly Attempt[] = [
  {
    name: 'an abstract socket of the host',
    like: 'CVE-2020-15257: abstract sockets',
    script:
      'perl -MSocket -e \'socket(my $s, AF_UNIX, SOCK_STREAM, 0); connect($s, pack("S a108", AF_UNIX, "\\0$ARGV[0]")) and print "ESCAPED\\n"; my $a = pack("S", AF_UNIX) . "\\0$ARGV[0]"; connect($s, $a) and print "ESCAPED\\n"\' "$abstractSocket"',
  },
  { name: 'names of abstract sockets', like: 'CVE-2020-15257: abstract sockets', script: 'grep -q "@$abstractSocket" /proc/net/unix && echo ESCAPED' },
  {
    name: 'the host’s loopback',
    like: 'CVE-2020-8558: loopback',
    script:
      'perl -MIO::Socket::INET -e \'my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $ARGV[0], Timeout => 2) or exit; print <$s>\' "$port"',
  },
  { name: 'interfaces of the network', like: 'CAP_NET_ADMIN', script: 'ip link add moorescape type bridge && echo ESCAPED && ip link del moorescape' },
  {
    name: 'System V shared memory',
    like: 'ipc namespaces',
    script: 'perl -e \'my $id = shmget($ARGV[0], 0, 0); defined $id or exit; shmread($id, my $text, 0, 100); print $text\' "$sharedMemoryKey"',
  },
];

export const attempts: readonly Attempt[] = [...files, ...kernelFiles, ...kernelCalls, ...processes, ...network];
