import type { Random } from '../../world/world.ts';

/** xoshiro128**: small, fast, and the same on every machine. Not for secrets. */
export class Prng implements Random {
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  constructor(seed: number) {
    // splitmix32 spreads the seed over the state, so that neighbouring seeds have nothing in common.
    let x = seed >>> 0;
    const next = () => {
      x = (x + 0x9e3779b9) >>> 0;
      let z = x;
      z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
      z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
      return (z ^ (z >>> 16)) >>> 0;
    };
    [this.#a, this.#b, this.#c, this.#d] = [next(), next(), next(), next()];
  }

  /** 32 bits. */
  bits(): number {
    const result = Math.imul(rotate(Math.imul(this.#b, 5), 7), 9) >>> 0;
    const shifted = this.#b << 9;
    this.#c ^= this.#a;
    this.#d ^= this.#b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= shifted;
    this.#d = rotate(this.#d, 11);
    return result;
  }

  float(): number {
    return this.bits() / 2 ** 32;
  }

  /** At least 0, below `limit`. */
  below(limit: number): number {
    return Math.floor(this.float() * limit);
  }

  chance(probability: number): boolean {
    return this.float() < probability;
  }

  uuid(): string {
    const hex = Array.from({ length: 4 }, () => this.bits().toString(16).padStart(8, '0')).join('');
    const variant = '89ab'[Number.parseInt(hex.charAt(16), 16) % 4] ?? '8';
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
  }

  /** A generator that depends only on the numbers drawn so far: draws from it do not change those of this one. */
  fork(): Prng {
    return new Prng(this.bits());
  }
}

const rotate = (x: number, by: number): number => (x << by) | (x >>> (32 - by));
