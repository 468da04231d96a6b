/**
 * A Swagger 2 document in the protobuf form that client-go asks for (`Discovery().OpenAPISchema()`, and kubectl when it
 * validates a List). The messages are those of the OpenAPIv2 proto of gnostic, as far as our documents use them.
 */
export function encodeOpenApiV2(document: object): Uint8Array {
  return encode(documentMessage, document as Json);
}

type Json = Readonly<Record<string, unknown>>;
/** The field number and encoding of each member. Members that begin with x- are vendor extensions. */
type Message = { readonly fields: Readonly<Record<string, readonly [number: number, write: Write]>>; readonly extensions: number };
type Write = (field: number, value: unknown) => Uint8Array;

const text: Write = (field, value) => lengthDelimited(field, Buffer.from(String(value)));
const flag: Write = (field, value) => concat([varint(field << 3), varint(value === true ? 1 : 0)]);
const count: Write = (field, value) => concat([varint(field << 3), varint(Math.max(0, Number(value)))]);
const number: Write = (field, value) => {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(Number(value));
  return concat([varint((field << 3) | 1), bytes]);
};
const texts: Write = (field, value) => concat((value as readonly unknown[]).map((each) => text(field, each)));
/** Any value as YAML; JSON is valid YAML. */
const anys: Write = (field, value) => concat((value as readonly unknown[]).map((each) => lengthDelimited(field, any(each))));
const any = (value: unknown): Uint8Array => text(2, JSON.stringify(value));

const nested =
  (message: () => Message): Write =>
  (field, value) =>
    lengthDelimited(field, encode(message(), value as Json));
/** A message around another one, in one of its fields. */
const within =
  (inner: number, write: Write): Write =>
  (field, value) =>
    lengthDelimited(field, write(inner, value));
/** A map becomes a list of names and values. */
const named =
  (inner: number, write: Write): Write =>
  (field, value) =>
    lengthDelimited(field, concat(Object.entries(value as Json).map(([name, each]) => lengthDelimited(inner, concat([text(1, name), write(2, each)])))));

const schema = nested(() => schemaMessage);
const operation = nested(() => operationMessage);

const schemaMessage: Message = {
  fields: {
    $ref: [1, text],
    format: [2, text],
    title: [3, text],
    description: [4, text],
    default: [5, (field, value) => lengthDelimited(field, any(value))],
    multipleOf: [6, number],
    maximum: [7, number],
    exclusiveMaximum: [8, flag],
    minimum: [9, number],
    exclusiveMinimum: [10, flag],
    maxLength: [11, count],
    minLength: [12, count],
    pattern: [13, text],
    maxItems: [14, count],
    minItems: [15, count],
    uniqueItems: [16, flag],
    maxProperties: [17, count],
    minProperties: [18, count],
    required: [19, texts],
    enum: [20, anys],
    additionalProperties: [21, (field, value) => (typeof value === 'boolean' ? within(2, flag) : within(1, schema))(field, value)],
    type: [22, within(1, text)],
    items: [23, within(1, schema)],
    properties: [25, named(1, schema)],
    externalDocs: [29, nested(() => ({ fields: { description: [1, text], url: [2, text] }, extensions: 3 }))],
    example: [30, (field, value) => lengthDelimited(field, any(value))],
  },
  extensions: 31,
};

const bodyParameter: Message = { fields: { name: [2, text], in: [3, text], required: [4, flag], schema: [5, schema] }, extensions: 6 };
const queryParameter: Message = { fields: { in: [2, text], name: [4, text], type: [6, text], uniqueItems: [20, flag] }, extensions: 23 };
const pathParameter: Message = { fields: { required: [1, flag], in: [2, text], name: [4, text], type: [5, text], uniqueItems: [19, flag] }, extensions: 22 };

const parameters: Write = (field, value) => concat((value as readonly Json[]).map((each) => lengthDelimited(field, lengthDelimited(1, parameter(each)))));

function parameter(value: Json): Uint8Array {
  if (value['in'] === 'body') return lengthDelimited(1, encode(bodyParameter, value));
  const [field, message] = value['in'] === 'path' ? ([4, pathParameter] as const) : ([3, queryParameter] as const);
  return lengthDelimited(2, lengthDelimited(field, encode(message, value)));
}

const responseMessage: Message = { fields: { description: [1, text], schema: [2, within(1, schema)] }, extensions: 5 };

const operationMessage: Message = {
  fields: {
    tags: [1, texts],
    description: [3, text],
    operationId: [5, text],
    produces: [6, texts],
    consumes: [7, texts],
    parameters: [8, parameters],
    responses: [
      9,
      named(
        1,
        within(
          1,
          nested(() => responseMessage),
        ),
      ),
    ],
    schemes: [10, texts],
  },
  extensions: 13,
};

const pathMessage: Message = {
  fields: { get: [2, operation], put: [3, operation], post: [4, operation], delete: [5, operation], patch: [8, operation], parameters: [9, parameters] },
  extensions: 10,
};

const documentMessage: Message = {
  fields: {
    swagger: [1, text],
    info: [2, nested(() => ({ fields: { title: [1, text], version: [2, text] }, extensions: 7 }))],
    paths: [
      8,
      named(
        2,
        nested(() => pathMessage),
      ),
    ],
    definitions: [9, named(1, schema)],
  },
  extensions: 16,
};

/** @throws Error for a member that the proto does not have: our documents have none. */
function encode(message: Message, value: Json): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const [name, member] of Object.entries(value)) {
    const known = Object.hasOwn(message.fields, name) ? message.fields[name] : undefined;
    if (known !== undefined) parts.push(known[1](known[0], member));
    else if (name.startsWith('x-')) parts.push(lengthDelimited(message.extensions, concat([text(1, name), lengthDelimited(2, any(member))])));
    else throw new Error(`OpenAPI v2 in protobuf has no field for ${name}`);
  }
  return concat(parts);
}

const concat = (parts: readonly Uint8Array[]): Uint8Array => Buffer.concat(parts);

const lengthDelimited = (field: number, bytes: Uint8Array): Uint8Array => Buffer.concat([varint((field << 3) | 2), varint(bytes.length), bytes]);

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) | 0x80);
  }
}
