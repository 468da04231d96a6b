import { clauses } from '../clauses.ts';
import { expectOk, expectSame, expectThat } from '../expect.ts';
import { spec } from './spec.ts';

const name = /^[a-z0-9A-Z]([a-z0-9A-Z.-]{0,61}[a-z0-9A-Z])?$/;

export const identitySpecs = [
  spec('GetPluginInfo/name', { title: 'the name is a domain name of at most 63 characters', clause: clauses.pluginName }, async ({ driver }) => {
    const info = await expectOk('GetPluginInfo', () => driver.identity.getPluginInfo({}));
    expectThat(name.test(info.name), `the name is ${JSON.stringify(info.name)}`);
  }),
  spec('GetPluginInfo/version', { title: 'vendor_version is given', clause: clauses.vendorVersion }, async ({ driver }) => {
    const info = await expectOk('GetPluginInfo', () => driver.identity.getPluginInfo({}));
    expectThat(info.vendorVersion !== '', 'vendor_version is empty');
  }),
  spec('GetPluginCapabilities/stable', { title: 'the capabilities are the same at each call', clause: clauses.pluginCapabilities }, async ({ driver }) => {
    const [first, second] = [await driver.identity.getPluginCapabilities({}), await driver.identity.getPluginCapabilities({})];
    expectSame('GetPluginCapabilities', first.capabilities, second.capabilities);
  }),
  spec('Probe/ready', { title: 'Probe answers that the plugin is ready', clause: clauses.probe }, async ({ driver }) => {
    const { ready } = await expectOk('Probe', () => driver.identity.probe({}));
    expectThat(ready !== false, 'Probe answers ready = false after it answered that the plugin is ready');
  }),
];
