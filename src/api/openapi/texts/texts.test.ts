import { describe, expect, it } from 'vitest';
import { hasType, typeSchema } from '../../schema/type-schema.ts';
import { texts, textsOf } from './index.ts';

const fieldsOf = (type: string): string[] => [...typeSchema(type).byName.keys()];

describe('what explain says', () => {
  it.each(Object.keys(texts))('%s exists, and so does every field that is spoken of', (type) => {
    expect(hasType(type)).toBe(true);
    for (const [field, text] of textsOf(type, false).fields) {
      expect(fieldsOf(type)).toContain(field);
      expect(text).toMatch(/^[A-Z].*\.$/);
    }
  });

  it.each([
    'PersistentVolume',
    'PersistentVolumeSpec',
    'PersistentVolumeStatus',
    'PersistentVolumeClaim',
    'PersistentVolumeClaimSpec',
    'PersistentVolumeClaimStatus',
    'CSIPersistentVolumeSource',
    'StorageClass',
    'VolumeAttachment',
    'VolumeAttachmentSpec',
    'VolumeAttachmentStatus',
    'CSINode',
    'CSINodeDriver',
    'CSIDriver',
    'CSIDriverSpec',
    'CSIStorageCapacity',
    'VolumeAttributesClass',
    'VolumeIntentSpec',
    'VolumeIntentStatus',
  ])('%s is explained in full', (type) => {
    const { fields } = textsOf(type, true);
    expect(fieldsOf(type).filter((field) => !fields.has(field))).toEqual([]);
  });

  it('lists of anything have words too', () => {
    expect([...textsOf('PodList', true).fields.keys()]).toEqual(['apiVersion', 'kind', 'metadata', 'items']);
    expect(textsOf('PodList', true).type).toBeUndefined();
  });
});
