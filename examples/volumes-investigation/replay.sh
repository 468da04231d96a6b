#!/usr/bin/env bash
# An investigation of how Kubernetes handles volumes, replayed line by line: do StatefulSets keep their volumes, and what does
# the scheduler do with WaitForFirstConsumer? Every command is one that was typed there; every answer is checked.
#
#   moor up --kubeconfig ./kubeconfig &
#   KUBECONFIG=./kubeconfig examples/volumes-investigation/replay.sh
#
# Needs kubectl and a cluster with at least one ready node, and cleans up behind itself. Ends with code 0 if every answer is right.
set -euo pipefail
cd "$(dirname "$0")"
new_node=ip-192-168-94-59.us-west-2.compute.internal
pod=inflate-sc-0
claim=inflate-sc-vol-inflate-sc-0
scratch=$(mktemp -d)
watcher=

k() { kubectl "$@"; }
step() { printf '\n== %s\n' "$*"; }
# Shows what is typed, and what comes of it.
typed() { printf '$ k %s\n' "$*" >&2; k "$@"; }
fail() { printf 'NOT AS EXPECTED: %s\n' "$*" >&2; exit 1; }
# expect 'what' 'value' 'expected value'
expect() { [ "$2" = "$3" ] || fail "$1 is '$2', not '$3'"; echo "ok: $1 is $3"; }
# expect_lines 'in what' 'text' 'extended regular expression'…: each of them on some line
expect_lines() {
  local what=$1 text=$2 line
  shift 2
  for line; do grep -qE -- "$line" <<<"$text" || fail "$what has no line like '$line':"$'\n'"$text"; done
  echo "ok: $what says so ($# lines)"
}
# eventually 'what' command…: until it succeeds
eventually() {
  local what=$1 tries
  shift
  for ((tries = 0; tries < 600; tries++)); do
    if "$@" >/dev/null 2>&1; then echo "ok: $what"; return; fi
    sleep 0.2
  done
  "$@" || true
  fail "$what: it did not happen"
}
# described KIND NAME 'extended regular expression'
described() { k describe "$1" "$2" | grep -E -- "$3"; }
field() { k get "$1" "$2" -o "jsonpath=$3"; }
ready() { [ "$(field pod "$pod" '{.status.conditions[?(@.type=="Ready")].status}')" = True ]; }
is_gone() { [ -z "$(k get "$1" "$2" --ignore-not-found -o name)" ]; }

clean_up() {
  k delete statefulset inflate-sc --ignore-not-found
  k delete pvc -l app=inflate-sc --ignore-not-found
  k delete storageclass sc-us-west-2b --ignore-not-found
  k delete node "$new_node" --ignore-not-found
  k label nodes "$first_node" karpond.example/inflatemeister-
  # shellcheck disable=SC2086
  k uncordon $open_nodes
  [ -z "$watcher" ] || kill "$watcher"
  rm -rf "$scratch"
} >/dev/null 2>&1

eventually 'the nodes are ready' k wait --for=condition=Ready nodes --all --timeout=30s

step 'a StatefulSet with a claim in a class'
open_nodes=$(k get nodes --field-selector spec.unschedulable=false -o name)
first_node=$(head -1 <<<"${open_nodes#node/}")
nodes=$(k get nodes -o name | wc -l | tr -d ' ')
trap clean_up EXIT
typed label nodes "$first_node" karpond.example/inflatemeister=quasiquote
typed apply -f sc-host-path.yaml -f inflate-sc-uswest2b.yaml
typed scale statefulset inflate-sc --replicas=1
eventually "$pod is ready" ready
expect 'the phase of its claim' "$(field pvc $claim '{.status.phase}')" Bound
volume=$(field pvc $claim '{.spec.volumeName}')

step 'preserve ebs volumes? before/after diff of pod'
typed get pod $pod -o yaml > "$scratch/v1.yaml"
typed delete pod $pod
eventually "$pod is ready again" ready
typed get pod $pod -o yaml > "$scratch/v2.yaml"
diff -U3 "$scratch/v1.yaml" "$scratch/v2.yaml" || true
# What differs is what makes it another pod and tells when it did what; nothing of what it is.
other=$(diff "$scratch/v1.yaml" "$scratch/v2.yaml" | sed -nE 's/^[<>] *(- )?([A-Za-z.\/-]+): .*/\2/p' | sort -u |
  grep -vxE 'creationTimestamp|resourceVersion|uid|name|lastTransitionTime|containerID|startedAt|podIP|ip|startTime' || true)
expect 'what else differs' "$other" ''
renamed=$(diff "$scratch/v1.yaml" "$scratch/v2.yaml" | sed -nE 's/^[<>] *(- )?name: (.*)/\2/p' | grep -v '^kube-api-access-' || true)
expect 'what is called otherwise, beside the token' "$renamed" ''
[ "$(grep -m1 '^  uid:' "$scratch/v1.yaml")" != "$(grep -m1 '^  uid:' "$scratch/v2.yaml")" ] || fail 'it is the same pod'
expect_lines 'the second pod' "$(cat "$scratch/v2.yaml")" "claimName: $claim" '  generateName: inflate-sc-'
expect 'the volume of its claim (yes, it preserves existing volumes)' "$(field pvc $claim '{.spec.volumeName}')" "$volume"

step 'f/u: what about if you scale replicas up and down?'
typed scale statefulset inflate-sc --replicas=0
eventually "$pod is gone" is_gone pod $pod
expect 'the phase of its claim' "$(field pvc $claim '{.status.phase}')" Bound
typed scale statefulset inflate-sc --replicas=1
eventually "$pod is ready again" ready
expect 'the volume of its claim' "$(field pvc $claim '{.spec.volumeName}')" "$volume"

step 'how does scheduler handle WaitForFirstConsumer: delete ss, delete storageclass'
typed delete statefulsets.apps inflate-sc
typed delete storageclasses.storage.k8s.io sc-us-west-2b
expect 'the phase of the claim, which outlives its set' "$(field pvc $claim '{.status.phase}')" Bound
eventually "$pod is gone" is_gone pod $pod
typed delete pvc $claim

step 'apply the class with a zone, cordon all nodes, create ss, scale it up'
typed apply -f sc-us-west-2b.yaml
# shellcheck disable=SC2046
typed cordon $(kubectl get nodes -o name)
typed apply -f inflate-sc-uswest2b.yaml
typed scale statefulset inflate-sc --replicas=1
eventually 'the pod is told that it cannot be scheduled' described pod $pod \
  "Warning +FailedScheduling .* 0/$nodes nodes are available: $nodes node\(s\) were unschedulable\."
about_pod=$(typed describe pod $pod)
echo "$about_pod"
expect_lines 'kubectl describe pod' "$about_pod" '^Node: +<none>$' '^Status: +Pending$' '^Controlled By: +StatefulSet/inflate-sc$' \
  'controller-revision-hash=inflate-sc-[0-9a-z]+$' 'statefulset.kubernetes.io/pod-name=inflate-sc-0$' \
  '^ +/data from inflate-sc-vol \(rw\)$' "^    ClaimName:  $claim\$" '^  PodScheduled +False *$' '^QoS Class: +Burstable$' \
  'default-scheduler +0/'"$nodes"' nodes are available: '"$nodes"' node\(s\) were unschedulable\.'

eventually 'the claim waits for its pod to be scheduled' described pvc $claim 'Normal +WaitForPodScheduled '
about_claim=$(typed describe pvc $claim)
echo "$about_claim"
expect_lines 'kubectl describe pvc' "$about_claim" '^StorageClass: +sc-us-west-2b$' '^Status: +Pending$' '^Used By: +inflate-sc-0$' \
  '^Finalizers: +\[kubernetes.io/pvc-protection\]$' '^Labels: +app=inflate-sc$' \
  'Normal +WaitForFirstConsumer .*persistentvolume-controller +waiting for first consumer to be created before binding$' \
  'Normal +WaitForPodScheduled .*persistentvolume-controller +waiting for pod inflate-sc-0 to be scheduled$'

step 'add a node in the web console, label node properly so pod schedules there'
typed apply -f new-node.yaml
eventually 'the new node does not match yet' described pod $pod \
  "0/$((nodes + 1)) nodes are available: 1 node\(s\) didn't match Pod's node affinity/selector, $nodes node\(s\) were unschedulable\."
# It may be gone again in a moment: watched for before it can come.
kubectl get pvc $claim --watch -o 'jsonpath={.metadata.annotations.volume\.kubernetes\.io/selected-node}{"\n"}' > "$scratch/selected" &
watcher=$!
typed label nodes $new_node karpond.example/inflatemeister=quasiquote
eventually "volume.kubernetes.io/selected-node: $new_node was added" grep -qx "$new_node" "$scratch/selected"
kill "$watcher"
wait "$watcher" 2>/dev/null || true
watcher=

step 'note that I ran into an issue'
eventually 'the zone is refused' described pvc $claim 'Warning +ProvisioningFailed .*persistentvolume-controller +Failed to provision volume with StorageClass "sc-us-west-2b": zone\[s\] cannot be specified in StorageClass if VolumeBindingMode is set to WaitForFirstConsumer\. Please specify allowedTopologies in StorageClass for constraining zones$'
expect 'the phase of the claim' "$(field pvc $claim '{.status.phase}')" Pending
expect 'the phase of the pod' "$(field pod $pod '{.status.phase}')" Pending

printf '\nEvery answer is as it was there.\n'
