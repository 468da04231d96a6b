/** A script that makes the devices of every container in this directory. */
export const devicesScript = (directory: string): string =>
  [
    `rm -rf ${quote(`${directory}.new`)} && mkdir -p ${quote(`${directory}.new`)} && cd ${quote(`${directory}.new`)}`,
    `cp -a ${['null', 'zero', 'full', 'random', 'urandom', 'tty'].map((name) => `/dev/${name}`).join(' ')} .`,
    'mkdir pts shm mqueue && ln -s pts/ptmx ptmx && ln -s /proc/self/fd fd && : >termination-log',
    'ln -s /proc/self/fd/0 stdin && ln -s /proc/self/fd/1 stdout && ln -s /proc/self/fd/2 stderr',
    `mv ${quote(`${directory}.new`)} ${quote(directory)}`,
  ].join(' && ');

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
