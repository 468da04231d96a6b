import type { CSIDriver } from '../../api/generated/types.ts';
import { annotations } from '../../api/volumes/annotations.ts';
import type { Resolved } from './secret-templates.ts';

/** The flags of external-provisioner that change what a driver is asked, with its defaults. */
export interface ProvisionerFlags {
  readonly strictTopology: boolean;
  readonly immediateTopology: boolean;
  readonly extraCreateMetadata: boolean;
  readonly defaultFsType: string;
  /** Volumes of claims that are ReadOnlyMany alone are attached read-only. */
  readonly controllerPublishReadOnly: boolean;
  /** The feature gate CrossNamespaceVolumeDataSource: alpha. */
  readonly crossNamespaceVolumeDataSource: boolean;
}

const defaults: ProvisionerFlags = {
  strictTopology: false,
  immediateTopology: true,
  extraCreateMetadata: false,
  defaultFsType: '',
  controllerPublishReadOnly: false,
  crossNamespaceVolumeDataSource: false,
};

const booleans = {
  'strict-topology': 'strictTopology',
  'immediate-topology': 'immediateTopology',
  'extra-create-metadata': 'extraCreateMetadata',
  'controller-publish-readonly': 'controllerPublishReadOnly',
} as const satisfies Readonly<Record<string, keyof ProvisionerFlags>>;

const isBoolean = (name: string): name is keyof typeof booleans => Object.hasOwn(booleans, name);

/** The annotation has them as the sidecar's command line would: '--strict-topology --default-fstype=ext4'. */
export function provisionerFlagsOf(driver: CSIDriver | undefined): Resolved<ProvisionerFlags> {
  const text = driver?.metadata.annotations?.[annotations.provisionerFlags] ?? '';
  let flags = defaults;
  for (const word of text.split(/\s+/).filter((each) => each !== '')) {
    const [, name = '', value] = /^--?([a-z-]+)(?:=(.*))?$/.exec(word) ?? [];
    if (name === 'default-fstype' && value !== undefined) flags = { ...flags, defaultFsType: value };
    else if (name === 'feature-gates' && /^CrossNamespaceVolumeDataSource=(true|false)$/.test(value ?? ''))
      flags = { ...flags, crossNamespaceVolumeDataSource: value?.endsWith('=true') === true };
    else if (isBoolean(name) && (value === undefined || value === 'true' || value === 'false')) flags = { ...flags, [booleans[name]]: value !== 'false' };
    else return { ok: false, message: `annotation ${annotations.provisionerFlags} of the CSIDriver: ${JSON.stringify(word)} is none of ${known}` };
  }
  return { ok: true, value: flags };
}

const known =
  '--strict-topology, --immediate-topology, --extra-create-metadata, --controller-publish-readonly (each with =true or =false), --default-fstype=TYPE, --feature-gates=CrossNamespaceVolumeDataSource=true';
