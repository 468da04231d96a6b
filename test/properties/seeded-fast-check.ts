import fc from '../../node_modules/fast-check/lib/fast-check.js';

/**
 * Stands for `fast-check` in every test (vitest.config.ts): property tests draw from one seed, so that a run of the tests can be repeated,
 * and a failure is one of the change under test. `npm run test:properties` draws from another seed each time.
 */
export const propertySeed = Number(process.env['PROPERTY_SEED'] ?? 1);
fc.configureGlobal({ seed: propertySeed });

export default fc;
