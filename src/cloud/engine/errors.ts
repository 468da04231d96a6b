/** A refusal of the cloud, with EC2's code. docs/CLOUD.md lists the codes. */
export class CloudError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Which effect a call had before it failed is not known. */
export class LostAnswer extends Error {
  constructor(action: string) {
    super(`the answer to ${action} was lost`);
  }
}
