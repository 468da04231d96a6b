import type { Pod, RuntimeClass, Toleration } from '../../../api/generated/types.ts';
import { sameMeaning } from '../../../api/validation/semantic-equality.ts';
import type { ClusterReader } from '../../objects/cluster-reader.ts';
import type { Resources } from '../../objects/resources.ts';
import { type AdmissionPlugin, type AdmissionRequest, isResource } from '../chain.ts';
import { admissionForbidden } from '../forbidden.ts';

/** A pod gets overhead, node selector and tolerations of its RuntimeClass (plugin/pkg/admission/runtimeclass); a class that does not exist is refused. */
export function runtimeClass(resources: Resources, reader: ClusterReader): AdmissionPlugin {
  const classes = resources.require('node.k8s.io/v1', 'runtimeclasses');

  const classOf = async (request: AdmissionRequest): Promise<RuntimeClass | undefined> => {
    const { runtimeClassName } = (request.object as Pod).spec;
    if (runtimeClassName === undefined) return undefined;
    const found = await reader.get<RuntimeClass>(classes, '', runtimeClassName);
    if (found === undefined) throw admissionForbidden(request, `pod rejected: RuntimeClass "${runtimeClassName}" not found`);
    return found;
  };

  return {
    name: 'RuntimeClass',
    handles: (operation, resource, subresource) => operation === 'create' && subresource === '' && isResource(resource, '', 'pods'),
    mutate: async (request) => {
      const found = await classOf(request);
      if (found === undefined) return;
      setOverhead(request, found);
      setScheduling(request, found);
    },
    validate: async (request) => {
      const found = await classOf(request);
      const { overhead } = (request.object as Pod).spec;
      if (overhead !== undefined && found?.overhead === undefined) {
        throw admissionForbidden(request, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead');
      }
      if (found?.overhead !== undefined && !sameMeaning({ overhead }, { overhead: found.overhead.podFixed })) throw differentOverhead(request);
    },
  };
}

const differentOverhead = (request: AdmissionRequest): Error =>
  admissionForbidden(request, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");

function setOverhead(request: AdmissionRequest, { overhead }: RuntimeClass): void {
  const { spec } = request.object as Pod;
  if (overhead?.podFixed === undefined) return;
  if (spec.overhead !== undefined && !sameMeaning({ overhead: spec.overhead }, { overhead: overhead.podFixed })) throw differentOverhead(request);
  spec.overhead = { ...overhead.podFixed };
}

function setScheduling(request: AdmissionRequest, { scheduling }: RuntimeClass): void {
  const { spec } = request.object as Pod;
  if (scheduling === undefined) return;
  for (const [key, value] of Object.entries(scheduling.nodeSelector ?? {})) {
    const own = spec.nodeSelector?.[key];
    if (own === undefined || own === value) continue;
    throw admissionForbidden(request, `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own}`);
  }
  if (scheduling.nodeSelector !== undefined) spec.nodeSelector = { ...spec.nodeSelector, ...scheduling.nodeSelector };
  const further = (scheduling.tolerations ?? []).filter((toleration) => !(spec.tolerations ?? []).some((own) => sameMeaning(own, toleration)));
  if (further.length > 0) spec.tolerations = [...(spec.tolerations ?? []), ...further] satisfies Toleration[];
}
