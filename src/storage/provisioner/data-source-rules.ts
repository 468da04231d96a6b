/** Data sources that are neither a claim nor a snapshot of the claim's own namespace. */
import type { CSIDriver } from '../../api/generated/types.ts';
import type { ReferenceGrant } from '../../api/kinds/data-source/reference-grant.ts';
import type { Claim } from '../volumes/claim.ts';
import type { DataSource } from '../volumes/data-source.ts';
import { messages } from './messages.ts';
import { provisionerFlagsOf } from './provisioner-flags.ts';

export interface DataSourceRules {
  /** A VolumePopulator names the kind. */
  isRegistered(source: DataSource): boolean;
  grants(namespace: string): readonly ReferenceGrant[];
}

/** Why a source of another namespace must not be used; undefined: it may, or is of the claim's own. external-provisioner's `dataSource`. */
export function foreignSourceRefusal(
  claim: Claim,
  driver: { readonly object: CSIDriver | undefined; readonly rules: DataSourceRules | undefined },
): string | undefined {
  const source = claim.dataSource;
  if (source === undefined || source.namespace === '') return undefined;
  const flags = provisionerFlagsOf(driver.object);
  if (!flags.ok) return flags.message;
  if (!flags.value.crossNamespaceVolumeDataSource) return messages.crossNamespaceDisabled(source);
  if (source.namespace === claim.namespace) return undefined;
  const isGranted = driver.rules?.grants(source.namespace).some((grant) => grants(grant, claim, source)) === true;
  return isGranted ? undefined : messages.notGranted(source, claim);
}

/** external-provisioner's `IsGranted`. */
function grants({ spec }: ReferenceGrant, claim: Claim, source: DataSource): boolean {
  const mayRefer = spec.from.some(({ group, kind, namespace }) => group === '' && kind === 'PersistentVolumeClaim' && namespace === claim.namespace);
  return mayRefer && spec.to.some(({ group, kind, name = '' }) => group === source.group && kind === source.kind && (name === '' || name === source.name));
}
