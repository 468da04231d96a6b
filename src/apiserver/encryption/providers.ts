import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** An encryption provider (EncryptionConfiguration) with one of its keys. */
export interface EncryptionProvider {
  /** The prefix of its values: 'k8s:enc:aescbc:v1:key1:'; '' for identity. */
  readonly prefix: string;
  /** `key`: the store's key of the value. AES-GCM authenticates it, so that two values cannot be swapped. */
  encrypt(plain: Uint8Array, key: string): Uint8Array;
  /** `sealed`: the value without its prefix. @throws Error */
  decrypt(sealed: Uint8Array, key: string): Uint8Array;
}

export interface NamedKey {
  readonly name: string;
  /** 16, 24 or 32 bytes. */
  readonly secret: Uint8Array;
}

const ivBytes = 16;
const nonceBytes = 12;
const tagBytes = 16;

/** In a buffer of its own: the store keeps the bytes, and a slice would keep the whole pool. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = Buffer.allocUnsafeSlow(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

const invalid = (why: string): Error => new Error(`invalid ciphertext: ${why}`);

/** AES-CBC with PKCS #7 padding, a random IV in front: Kubernetes' `aescbc`. */
export function aesCbc({ name, secret }: NamedKey): EncryptionProvider {
  const algorithm = `aes-${secret.length * 8}-cbc`;
  return {
    prefix: `k8s:enc:aescbc:v1:${name}:`,
    encrypt(plain) {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv(algorithm, secret, iv);
      return joined([iv, cipher.update(plain), cipher.final()]);
    },
    decrypt(sealed) {
      if (sealed.length < 2 * ivBytes || sealed.length % ivBytes !== 0) throw invalid('it is cut off');
      const decipher = createDecipheriv(algorithm, secret, sealed.subarray(0, ivBytes));
      try {
        return joined([decipher.update(sealed.subarray(ivBytes)), decipher.final()]);
      } catch {
        throw invalid('it was written with another key, or is damaged');
      }
    },
  };
}

/** AES-GCM with a random nonce in front and the store's key as additional data: Kubernetes' `aesgcm`. */
export function aesGcm({ name, secret }: NamedKey): EncryptionProvider {
  const algorithm = `aes-${secret.length * 8}-gcm` as 'aes-256-gcm';
  return {
    prefix: `k8s:enc:aesgcm:v1:${name}:`,
    encrypt(plain, key) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, secret, nonce).setAAD(Buffer.from(key));
      const text = joined([cipher.update(plain), cipher.final()]);
      return joined([nonce, text, cipher.getAuthTag()]);
    },
    decrypt(sealed, key) {
      if (sealed.length < nonceBytes + tagBytes) throw invalid('it is cut off');
      const decipher = createDecipheriv(algorithm, secret, sealed.subarray(0, nonceBytes)).setAAD(Buffer.from(key));
      decipher.setAuthTag(sealed.subarray(-tagBytes));
      try {
        return joined([decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()]);
      } catch {
        throw invalid('it was written with another key or for another object, or is damaged');
      }
    },
  };
}

const encryptedPrefix = Buffer.from('k8s:enc:');

export const looksEncrypted = (value: Uint8Array): boolean => startsWith(value, encryptedPrefix);

/** Values that are not encrypted: Kubernetes' `identity`. */
export const identity: EncryptionProvider = {
  prefix: '',
  encrypt: (plain) => plain,
  decrypt(value) {
    if (looksEncrypted(value)) throw new Error('identity transformer tried to read encrypted data');
    return value;
  },
};

export function startsWith(value: Uint8Array, prefix: Uint8Array): boolean {
  if (value.length < prefix.length) return false;
  for (let i = 0; i < prefix.length; i += 1) if (value[i] !== prefix[i]) return false;
  return true;
}
