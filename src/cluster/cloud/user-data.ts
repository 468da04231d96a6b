/** What a kubelet is told by the user data of its instance: labels and taints of its Node, as the flags of a kubelet. */
import type { Taint } from '../../api/generated/types.ts';

export interface KubeletSettings {
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
}

export function kubeletUserData({ labels, taints }: KubeletSettings): string {
  const ofLabels = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  const ofTaints = taints.map(({ key, value = '', effect }) => `${key}=${value}:${effect}`);
  return [`--node-labels=${ofLabels.join(',')}`, `--register-with-taints=${ofTaints.join(',')}`].join(' ');
}

/** Of user data without these flags: none. */
export function readUserData(text: string | undefined): KubeletSettings {
  const flag = (name: string): readonly string[] => {
    const found = new RegExp(`--${name}=(\\S*)`).exec(text ?? '')?.[1] ?? '';
    return found.split(',').filter((each) => each !== '');
  };
  const labels = flag('node-labels').map((each) => each.split('=', 2) as [string, string?]);
  const taints = flag('register-with-taints').flatMap((each) => {
    const [, key = '', value = '', effect = ''] = /^([^=:]+)(?:=([^:]*))?:(\w+)$/.exec(each) ?? [];
    return key === '' ? [] : [{ key, effect, ...(value === '' ? {} : { value }) }];
  });
  return { labels: Object.fromEntries(labels.map(([key, value = '']) => [key, value])), taints };
}
