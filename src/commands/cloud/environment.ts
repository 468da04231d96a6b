/** The line for a shell by which the aws CLI and SDKs use this cloud. Version 1 of the CLI reads AWS_DEFAULT_REGION, the others AWS_REGION. */
export function cloudEnvironment({ url, region, checksSignatures }: CloudPlace): string {
  const place = `export AWS_ENDPOINT_URL=${url} AWS_REGION=${region} AWS_DEFAULT_REGION=${region}`;
  return checksSignatures === true ? place : `${place} AWS_ACCESS_KEY_ID=any AWS_SECRET_ACCESS_KEY=any`;
}

interface CloudPlace {
  readonly url: string;
  readonly region: string;
  /** Its keys are in the environment already. */
  readonly checksSignatures?: boolean;
}
