#!/usr/bin/env bash
# A cluster that outlives any of its three machines, on one machine: each is a network namespace with an etcd member and a `moor server`; two of
# them also have `moor controllers` and `moor scheduler`. HAProxy gives kubectl's connections to the servers that are ready. Then one machine after
# the other is killed, and claims keep being bound.
#
#   sudo examples/high-availability/cluster.sh            starts it, kills each machine once, and removes everything
#   sudo examples/high-availability/cluster.sh --keep     stays until Ctrl-C, for kubectl
#
# Needs root (network namespaces), a build (npm run build), etcd 3.5.13 or newer (that of Debian 12 is older; scripts/setup puts one into .tools/bin),
# kubectl and haproxy (Debian: apt-get install haproxy).
set -euo pipefail
cd "$(dirname "$0")/../.."
export PATH="$PWD/.tools/bin:/usr/sbin:$PATH"
moor="node $PWD/dist/main/moor.js"
dir=$(mktemp -d)
id=ha$((RANDOM % 1000))
net=10.$((100 + RANDOM % 100)).$((RANDOM % 256))

finish() {
  for machine in 1 2 3; do kill_machine $machine; done
  [ -n "${proxy:-}" ] && kill "$proxy" 2>/dev/null || true
  # Connections of killed processes keep a namespace, and so its link, for minutes: the link is removed by name.
  for machine in 1 2 3; do
    ip link del "$id-$machine" 2>/dev/null || true
    ip netns del "$id-$machine" 2>/dev/null || true
  done
  ip link del "$id" 2>/dev/null || true
  rm -rf "$dir"
}
trap finish EXIT

etcd_servers="http://$net.1:2379,http://$net.2:2379,http://$net.3:2379"
servers="https://$net.1:6443,https://$net.2:6443,https://$net.3:6443"
initial="m1=http://$net.1:2380,m2=http://$net.2:2380,m3=http://$net.3:2380"

# on MACHINE NAME COMMAND…: a process of that machine, with a log of its own
on() {
  local machine=$1 name=$2
  shift 2
  ip netns exec "$id-$machine" "$@" >>"$dir/$name-$machine.log" 2>&1 &
  disown # bash would print a line for each process that is killed
}

# All that runs in its namespace, at once, as when the power fails.
kill_machine() {
  local pids
  pids=$(ip netns pids "$id-$1" 2>/dev/null) || return 0
  # shellcheck disable=SC2086
  [ -z "$pids" ] || kill -KILL $pids 2>/dev/null || true
}

start_machine() {
  local machine=$1 address=$net.$1
  on "$machine" etcd etcd --name "m$machine" --data-dir "$dir/etcd-$machine" --initial-cluster "$initial" --initial-cluster-state new \
    --listen-client-urls "http://$address:2379" --advertise-client-urls "http://$address:2379" \
    --listen-peer-urls "http://$address:2380" --initial-advertise-peer-urls "http://$address:2380" --log-level warn
  # A server that does not reach etcd yet ends, and is started again: on a machine, systemd would.
  on "$machine" server bash -c "until $moor server --etcd-servers $etcd_servers --listen $address:6443 --tls-san $net.254 --kubeconfig $dir/kubeconfig-$machine \
    --kubeconfig-server https://$net.254:6443; do sleep 1; done"
  [ "$machine" = 3 ] && return
  on "$machine" controllers bash -c "until [ -s $dir/kubeconfig ]; do sleep 0.5; done; exec $moor controllers --kubeconfig $dir/kubeconfig --servers $servers --etcd-servers $etcd_servers --identity machine-$machine"
  on "$machine" scheduler bash -c "until [ -s $dir/kubeconfig ]; do sleep 0.5; done; exec $moor scheduler --kubeconfig $dir/kubeconfig --servers $servers --identity machine-$machine"
}

echo "Three machines: $net.1, $net.2, $net.3"
ip link add "$id" type bridge
ip addr add "$net.254/24" dev "$id"
ip link set "$id" up
for machine in 1 2 3; do
  ip netns add "$id-$machine"
  ip link add "$id-$machine" type veth peer name eth0 netns "$id-$machine"
  ip link set "$id-$machine" master "$id" up
  ip -n "$id-$machine" addr add "$net.$machine/24" dev eth0
  ip -n "$id-$machine" link set eth0 up
  ip -n "$id-$machine" link set lo up
  start_machine "$machine"
done

cat >"$dir/haproxy.cfg" <<EOF
defaults
  mode tcp
  timeout connect 3s
  timeout client 1h
  timeout server 1h
  option redispatch
frontend kubernetes
  bind $net.254:6443
  default_backend servers
backend servers
  balance roundrobin
  option httpchk GET /readyz
  default-server check check-ssl verify none inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
  server machine-1 $net.1:6443
  server machine-2 $net.2:6443
  server machine-3 $net.3:6443
EOF
haproxy -f "$dir/haproxy.cfg" >"$dir/haproxy.log" 2>&1 &
proxy=$!

# until_true SECONDS COMMAND…
until_true() {
  local end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    if [ $SECONDS -ge $end ]; then
      echo "This did not come true: $*"
      tail -n 5 "$dir"/*.log
      exit 1
    fi
    sleep 0.5
  done
}
has_kubeconfig() { [ -s "$dir/kubeconfig-1" ]; }
until_true 120 has_kubeconfig
cp "$dir/kubeconfig-1" "$dir/kubeconfig"
export KUBECONFIG=$dir/kubeconfig
until_true 120 kubectl get --raw /readyz

kubectl apply -f - <<EOF >/dev/null
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: { name: fast }
provisioner: kubernetes.io/host-path
EOF

claim() {
  cat <<EOF
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: $1 }
spec: { storageClassName: fast, accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Mi } } }
EOF
}
apply_claim() { claim "$1" | kubectl apply --request-timeout=5s -f -; }
is_bound() { [ "$(kubectl get pvc "$1" --request-timeout=5s -o 'jsonpath={.status.phase}')" = Bound ]; }
has_no_volumes() { [ -z "$(kubectl get pv --request-timeout=5s -o name)" ]; }
# binds NAME: a new claim is accepted, and bound
binds() {
  local began=$SECONDS
  until_true 120 apply_claim "$1"
  until_true 120 is_bound "$1"
  echo "$1 is bound after $((SECONDS - began)) s"
}

binds before
if [ "${1:-}" = --keep ]; then
  echo "export KUBECONFIG=$KUBECONFIG"
  sleep infinity
fi
for machine in 1 2 3; do
  echo "Machine $machine is killed: its etcd member, its server, and what else runs there"
  kill_machine $machine
  binds "without-$machine"
  echo "Machine $machine is back"
  start_machine $machine
  until_true 120 kubectl --server "https://$net.$machine:6443" get --raw /readyz --request-timeout=5s
done
kubectl get pvc
kubectl delete pvc --all >/dev/null
until_true 60 has_no_volumes # their directories are outside of $dir
echo 'All claims were bound, whichever machine was gone.'
