/** What the reference page uses of Swagger UI, which has no types of its own, and of React inside it. */

type Element = unknown;
export type Component = (props: Properties) => Element;
export type CreateElement = (type: unknown, props: object | null, ...children: Element[]) => Element;

/** The properties that Swagger UI hands to the components we wrap; each gets some of them. */
export interface Properties {
  readonly path: string;
  readonly method: string;
  readonly pathMethod: readonly [path: string, method: string];
  readonly operationProps: { toJS(): { path: string; method: string } };
  readonly content: string;
  readonly contentType: string;
}

/** An operation of the OpenAPI document, as far as the page reads it. */
export interface Operation {
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: unknown }>> };
  readonly 'x-deprecated-sunset'?: string;
  readonly 'x-stability'?: string;
  /** Ours, for the page only: what the description says of the deprecation. */
  readonly 'x-notice'?: string;
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly example?: unknown;
  readonly schema?: { readonly enum?: readonly unknown[]; readonly default?: unknown };
}

/** https://github.com/swagger-api/swagger-ui/blob/master/docs/customization/plug-points.md */
export interface System {
  readonly React: {
    readonly createElement: CreateElement;
    readonly Fragment: unknown;
    useState<Value>(initial: Value): [Value, (next: Value) => void];
  };
  readonly specSelectors: { specJson(): { getIn(keys: readonly string[]): { toJS(): Operation } } };
  getComponent(name: string, container: boolean): unknown;
}

export interface SwaggerUi {
  preauthorizeApiKey(scheme: string, key: string): void;
}

/** The constructor that the bundle puts into the global scope. */
export type SwaggerUiBundle = (options: object) => SwaggerUi;
