#!/usr/bin/env bash
# Three pods of a Deployment share one claim and append to one file in it; each command is checked. Pods have to run for that:
#
#   moor up --runtime sandbox --nodes 1 --kubeconfig ./kubeconfig &
#   KUBECONFIG=./kubeconfig examples/shared-claim/follow.sh
#
# Needs kubectl, and cleans up behind itself. Ends with code 0 if everything is as it should be.
set -euo pipefail
cd "$(dirname "$0")"

step() { printf '\n== %s\n' "$*"; }
fail() { printf 'NOT AS EXPECTED: %s\n' "$*" >&2; exit 1; }
expect() { [ "$2" = "$3" ] || fail "$1 is '$2', not '$3'"; echo "ok: $1 is $3"; }
# eventually 'what' 'command of the shell': until it succeeds
eventually() {
  local tries
  for ((tries = 0; tries < 600; tries++)); do
    if eval "$2" >/dev/null 2>&1; then echo "ok: $1"; return; fi
    sleep 0.2
  done
  fail "$1: it did not happen"
}
pods() { kubectl get pods -l app=stateful -o name; }
lines() { kubectl exec "$1" -- cat /data/out.txt | wc -l; }
phase() { kubectl get pvc ebs-claim -o 'jsonpath={.status.phase}'; }

step 'A claim waits for its first consumer'
kubectl apply -f storage.yaml
eventually 'the event of the claim tells what it waits for' "kubectl describe pvc ebs-claim | grep 'waiting for first consumer to be created before binding'"

step 'Three pods share it'
kubectl apply -f workload.yaml
kubectl rollout status deployment/stateful --timeout=60s
expect 'the claim' "$(phase)" Bound
pod=$(pods | tail -n 1)
eventually 'each has written its line' "[ \$(lines $pod) = 3 ]"
kubectl exec "$pod" -- cat /data/out.txt
before=$(kubectl exec "$pod" -- cat /data/out.txt)

step 'One is deleted: its replacement finds the file, and goes on'
kubectl delete "$pod"
kubectl rollout status deployment/stateful --timeout=60s
expect 'the number of pods' "$(pods | wc -l)" 3
successor=$(kubectl get pods -l app=stateful --sort-by=.metadata.creationTimestamp -o name | tail -n 1)
[ "$successor" != "$pod" ] || fail "$pod is still there"
eventually 'the successor has written its line' "[ \$(lines $successor) = 4 ]"
expect 'what was there before' "$(kubectl exec "$successor" -- head -n 3 /data/out.txt)" "$before"

step 'No pod runs, and the data stays'
kubectl scale deployment stateful --replicas 0
kubectl wait --for=delete pod -l app=stateful --timeout=60s
kubectl scale deployment stateful --replicas 3
kubectl rollout status deployment/stateful --timeout=60s
pod=$(pods | tail -n 1)
eventually 'three more lines' "[ \$(lines $pod) = 7 ]"

step 'A claim in use is not deleted before the last pod is gone'
kubectl delete pvc ebs-claim --wait=false
expect 'the claim' "$(kubectl get pvc ebs-claim --no-headers | awk '{print $2}')" Terminating
expect 'what protects it' "$(kubectl get pvc ebs-claim -o 'jsonpath={.metadata.finalizers[0]}')" kubernetes.io/pvc-protection
expect 'the file' "$(lines "$pod")" 7
volume=$(kubectl get pvc ebs-claim -o 'jsonpath={.spec.volumeName}')
kubectl delete deployment stateful
kubectl wait --for=delete pvc/ebs-claim "pv/$volume" --timeout=60s
echo 'ok: the claim is deleted with the last pod, and its volume with the claim'
