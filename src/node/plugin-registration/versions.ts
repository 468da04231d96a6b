/** Versions of the CSI specification, as drivers report them (k8s.io/apimachinery/pkg/util/version). */
export type Version = readonly [major: number, minor: number, patch: number];

function parse(text: string): Version | undefined {
  const [, major, minor, patch] = /^\s*v?(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?/.exec(text) ?? [];
  return major === undefined || minor === undefined ? undefined : [Number(major), Number(minor), Number(patch ?? 0)];
}

export function isLower(a: Version, b: Version): boolean {
  const at = a.findIndex((part, i) => part !== b[i]);
  return at >= 0 && (a[at] ?? 0) < (b[at] ?? 0);
}

export const versionText = (version: Version): string => version.join('.');

/** The highest 1.x version; or what is wrong with them, in the kubelet's words. */
export function highestVersion(versions: readonly string[]): Version | string {
  if (versions.length === 0) return 'Plugin returned an empty list for supported versions';
  const parsed = versions.flatMap((text) => {
    const version = parse(text);
    return version === undefined ? [] : [version];
  });
  const [first, ...rest] = parsed.filter(([major]) => major <= 1);
  const list = `None of the versions specified [${versions.map((each) => JSON.stringify(each)).join(' ')}] are supported. err=`;
  if (first === undefined) return `${list}could not find a highest supported version from versions ([${versions.join(' ')}]) reported by this driver`;
  const highest = rest.reduce((best, each) => (isLower(best, each) ? each : best), first);
  return highest[0] === 1 ? highest : `${list}highest supported version reported by driver is ${versionText(highest)}, must be v1.x`;
}
