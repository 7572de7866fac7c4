// biome-ignore-all lint/performance/noBarrelFile: a library has one entry; README.md says what for
export type { LeafWriter } from './field-shape.ts';
export {
  type AnswerFormat,
  createPlanner,
  type FieldPlan,
  type OperationPlan,
  PLANNED_FIELDS_MAX,
  type PlanOperation,
  pathOf,
  type SelectionPlan,
} from './plan.ts';
export {
  type Arguments,
  type ArgumentsOf,
  type CheckArguments,
  createArgumentsOf,
  NO_VARIABLES,
} from './planned-arguments.ts';
export {
  type AnswerBound,
  createPlannedExecution,
  createValueWriter,
  LOCATIONS_MAX,
  originalError,
  type PlanRequest,
  type Result,
} from './planned-execution.ts';
