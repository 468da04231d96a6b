import type { Context, Outcome } from './context.ts';
import { CloudError } from './errors.ts';
import type { LaunchTemplate, LaunchTemplateData, Tags } from './records.ts';

export interface CreateLaunchTemplateRequest {
  readonly name: string;
  readonly tags: Tags;
  readonly data: LaunchTemplateData;
}

export function createLaunchTemplate({ name, tags, data }: CreateLaunchTemplateRequest, { state, now, newId }: Context): Outcome<LaunchTemplate> {
  for (const template of state.launchTemplates.values())
    if (template.name === name) throw new CloudError('InvalidLaunchTemplateName.AlreadyExistsException', 'Launch template name already in use.');
  const template: LaunchTemplate = { id: newId('lt'), name, createTime: now, tags, data };
  return { value: template, changes: [{ in: 'launchTemplates', id: template.id, record: template }] };
}

/** By one of the two. */
export interface TemplateName {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
}

/** @throws CloudError */
export function findLaunchTemplate({ id, name }: TemplateName, { state }: Context): LaunchTemplate {
  if (id === undefined && name === undefined) throw new CloudError('MissingParameter', 'Either LaunchTemplateId or LaunchTemplateName must be specified.');
  for (const template of state.launchTemplates.values()) if (template.id === (id ?? template.id) && template.name === (name ?? template.name)) return template;
  if (id !== undefined) throw new CloudError('InvalidLaunchTemplateId.NotFound', `The specified launch template, with template ID ${id}, does not exist.`);
  throw new CloudError('InvalidLaunchTemplateName.NotFoundException', 'At least one of the launch templates specified in the request does not exist.');
}

export function deleteLaunchTemplate(name: TemplateName, context: Context): Outcome<LaunchTemplate> {
  const template = findLaunchTemplate(name, context);
  return { value: template, changes: [{ in: 'launchTemplates', id: template.id, record: undefined }] };
}
