/** Behind '#': a browser does not send it, so it stands in no log. */
export const pageAddress = (server: string, code: string, namespace: string): string =>
  `${server.replace(/\/$/, '')}/ui/#code=${code}&namespace=${encodeURIComponent(namespace)}`;
