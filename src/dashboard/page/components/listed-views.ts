/** The views of the navigation, by the first word of their address. The others are reached from these. */
export const views: readonly { readonly name: string; readonly label: string }[] = [
  { name: 'claims', label: 'Claims' },
  { name: 'stuck', label: 'Stuck' },
  { name: 'map', label: 'Map' },
  { name: 'pods', label: 'Pods' },
  { name: 'snapshots', label: 'Snapshots' },
  { name: 'leaks', label: 'Leaks' },
];
