/** Users and groups of an image, by its /etc/passwd and /etc/group. */
export interface UserLists {
  readonly passwd: string;
  readonly group: string;
}

export interface ImageUser {
  readonly uid: number;
  readonly gid: number;
  /** Those of the image's list that have the user as a member. */
  readonly memberOf: readonly number[];
  /** '': the list does not have the user. */
  readonly home: string;
}

const idPattern = /^\d+$/;
/** Linux takes 4294967295 for "no other user than now", which is root, and what is larger without its upper bits. */
const mostId = 2 ** 31 - 1;
const outOfRange = `uids and gids must be in range 0-${mostId}`;
const isId = (text: string): boolean => idPattern.test(text) && Number(text) <= mostId;
const lines = (list: string): readonly (readonly string[])[] => list.split('\n').map((line) => line.split(':'));

/** `user`: 'name', 'id', 'name:group' …; ''. The messages are runc's. */
export function findUser(user: string, { passwd, group }: UserLists): ImageUser | { readonly error: string } {
  const [name = '', groupName] = user.split(':');
  const isNumber = name === '' || idPattern.test(name);
  const entry = lines(passwd).find(([known, , uid]) => (isNumber ? Number(uid) === Number(name) && uid !== '' : known === name) && uid !== undefined);
  if (entry === undefined && !isNumber) return { error: `unable to find user ${name}: no matching entries in passwd file` };
  const uid = entry?.[2] ?? (name || '0');
  const gid = groupName === undefined || groupName === '' ? (entry?.[3] ?? '0') : groupId(groupName, group);
  if (gid === undefined) return { error: `unable to find group ${groupName}: no matching entries in group file` };
  const known = entry?.[0];
  const memberOf = known === undefined ? [] : lines(group).flatMap(([, , id = '', members = '']) => (members.split(',').includes(known) ? [id] : []));
  if (![uid, gid, ...memberOf].every(isId)) return { error: outOfRange };
  return {
    uid: Number(uid),
    gid: Number(gid),
    memberOf: memberOf.map(Number),
    home: entry?.[5] ?? '',
  };
}

const groupId = (name: string, group: string): string | undefined => (idPattern.test(name) ? name : lines(group).find(([known]) => known === name)?.[2]);
