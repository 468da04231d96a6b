/** Manifests as users write them. */
export const volume = (name: string, more = '') => `apiVersion: v1
kind: PersistentVolume
metadata:
  name: ${name}
spec:
  capacity: {storage: 5Gi}
  accessModes: [ReadWriteOnce, ReadOnlyMany]
  storageClassName: slow
  hostPath: {path: /tmp/${name}}
${more}`;

export const claim = (name: string, more = '') => `apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: ${name}
  labels: {app: ${name}}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: none-such
  resources: {requests: {storage: 1536Mi}}
${more}`;

export const settings = (name: string, data: Record<string, string> = { a: '1' }, more = '') => `apiVersion: v1
kind: ConfigMap
metadata:
  name: ${name}
${more}data:
${Object.entries(data)
  .map(([k, v]) => `  ${k}: ${JSON.stringify(v)}\n`)
  .join('')}`;

export const deployment = (name: string, image = 'registry.k8s.io/pause:3.10') => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
spec:
  replicas: 2
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec:
      containers:
      - {name: app, image: "${image}"}
      - {name: side, image: "side:1"}
`;
