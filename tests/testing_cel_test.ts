import { assertEquals, assertStringIncludes } from "@std/assert";
import { compile } from "../testing/_cel_check.ts";
import { checkSchemaRules } from "../testing/_cel_definition.ts";
import { evaluate } from "../testing/_cel_evaluate.ts";
import { checkRules } from "../testing/_cel_rules.ts";
import { typeOf, valueOf } from "../testing/_cel_schema.ts";
import { CelError } from "../testing/_cel_values.ts";
import type { Schema, ValidationRule } from "../testing/_schema.ts";

const SELF: Schema = {
  type: "object",
  properties: {
    a: { type: "string" },
    n: { type: "integer" },
    l: { type: "array", items: { type: "integer" } },
    m: { type: "object", additionalProperties: { type: "integer" } },
    d: { type: "string", format: "date-time" },
    b: { type: "string", format: "byte" },
    i: { "x-kubernetes-int-or-string": true },
    s: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
    o: { type: "object", properties: { "x-y": { type: "integer" }, in: { type: "string" } } },
  },
};
const VALUE = {
  n: 3,
  l: [1, 2],
  m: { x: 1, y: 2 },
  d: "2024-02-29T23:30:45.5Z",
  b: "YWI=",
  i: 5,
  s: ["a", "b"],
  o: { "x-y": 1, in: "z" },
};

/** What an expression comes to: its value, the error, or what does not compile. */
function result(text: string): unknown {
  const { node, issues } = compile(text, new Map([["self", typeOf(SELF)!]]));
  if (issues !== undefined) return issues.split("\n")[0];
  try {
    return evaluate(node!, new Map([["self", valueOf(VALUE, SELF)]]));
  } catch (error) {
    if (error instanceof CelError) return error.message;
    throw error;
  }
}

const ruled = (rule: ValidationRule, schema: Schema = { type: "integer" }): Schema => ({
  ...schema,
  "x-kubernetes-validations": [rule],
});

Deno.test("evaluate() computes what a real server computes", () => {
  const trues = [
    "self.n / 2 == 1 && -7 % 3 == -1 && -self.n < 0",
    "self.l.all(x, x > 0) && self.l.exists(i, v, i == v - 1) && self.l.exists_one(x, x > 1)",
    "self.m.all(k, self.m[k] > 0) && self.m['x'] == 1 && 'y' in self.m && 2 in self.l",
    "self.l.map(x, x > 1, x * 2) == [4] && self.l.filter(x, x > 1).size() == 1",
    "self.l.transformList(i, v, i > 0, v * 2) == [4] && {'a': 1}.transformMap(k, v, v + 1) == {'a': 2}",
    "!has(self.a) && has(self.n) && self.?a.orValue('none') == 'none' && self.l[?7].orValue(0) == 0",
    "[?self.?a].size() == 0 && self.?n.optMap(x, x + 1).value() == 4 && {?'n': self.?n}.size() == 1",
    "self.d.getDate('Europe/Berlin') == 1 && self.d.getHours('-01:00') == 22 && self.d.getMilliseconds() == 500",
    "duration('1h') + duration('30m') == duration('90m') && string(duration('90s')) == '90s'",
    "self.b == b'ab' && bytes('a') == b'a' && size('é') == 1",
    "self.i == 5 && type(self.i) == int && dyn(1) == 1",
    "self.s == ['b', 'a'] && self.l != [2, 1]",
    "self.o.x__dash__y == 1 && self.o.__in__ == 'z'",
    "'a,b'.split(',') == ['a', 'b'] && 'abcabc'.replace('b', 'x', 1) == 'axcabc' && ' a '.trim() == 'a'",
    "'abcabc'.lastIndexOf('c') == 5 && 'abc'.substring(1, 2) == 'b' && ['a', 'b'].join('-') == 'a-b'",
    "'a1b22'.findAll('[0-9]+') == ['1', '22'] && 'abc'.matches('^[a-c]+$')",
    "'%s is %d, %.2f %x'.format(['a', 1, 1.5, 255]) == 'a is 1, 1.50 ff'",
    "[3, 1].max() == 3 && [1, 2].sum() == 3 && [1, 2].isSorted() && [2, 1].sort() == [1, 2]",
    "sets.equivalent([1, 2], [2, 1, 1]) && sets.intersects([1], [1, 2]) && !sets.contains([1], [2])",
    "quantity('1Gi').compareTo(quantity('1024Mi')) == 0 && quantity('1').add(2).asInteger() == 3 && !isQuantity('x')",
    "url('https://a.b:80/p?q=1&q=2').getPort() == '80' && isURL('/x') && !isURL('a b')",
    "ip('::1').isLoopback() && ip.isCanonical('2001:db8::1') && !isIP('1.2.3') && ip('10.0.0.1').family() == 4",
    "cidr('10.0.0.0/8').containsIP('10.1.2.3') && string(cidr('10.1.2.3/8').masked()) == '10.0.0.0/8'",
    "semver('1.2.3').isLessThan(semver('1.10.0')) && isSemver('1.2.3-rc.1') && !isSemver('1.2')",
    "!format.dns1123Label().validate('ab').hasValue() && format.dns1123Label().validate('A').hasValue()",
    "true || self.a == 'x' && self.a != 'y'",
    "self.a == 'x' || true",
    "1 < 2.5 && 2u > 1 && r'\\d'.size() == 2 && '\\u00e9' == 'é'",
  ];
  for (const text of trues) assertEquals(result(text), true, text);
});

Deno.test("evaluate() fails in the real server's words", () => {
  const cases: [string, string][] = [
    ["self.n / (self.n - 3) > 0", "division by zero"],
    ["self.n % (self.n - 3) > 0", "modulus by zero"],
    ["self.l[2] > 0", "index out of bounds: 2"],
    ["self.m['k'] > 0", "no such key: k"],
    ["self.a == 'x'", "no such key: a"],
    ["self.n + 9223372036854775807 > 0", "integer overflow"],
    ["int('x' + 'y') > 0", "type conversion error from 'string' to 'int'"],
    ["self.i > 'x'", "no such overload"],
    ["self.a == 'x' || self.n == 1", "no such key: a"],
    ["self.?a.value() == ''", "optional.none() dereference"],
  ];
  for (const [text, message] of cases) assertEquals(result(text), message, text);
});

Deno.test("compile() refuses what does not fit, and points to it", () => {
  const cases: [string, string][] = [
    ["self.nope == 1", "1:5: undefined field 'nope'"],
    ["has(self.nope)", "1:4: undefined field 'nope'"],
    ["x == 1", "1:1: undeclared reference to 'x' (in container '')"],
    ["self.a.foo()", "1:11: undeclared reference to 'foo' (in container '')"],
    ["self.a + 1 == 2", "1:8: found no matching overload for '_+_' applied to '(string, int)'"],
    ["self.a.startsWith(1)", "1:18: found no matching overload for 'startsWith' applied to 'string.(int)'"],
    ["1 == 1u", "1:3: found no matching overload for '_==_' applied to '(int, uint)'"],
    ["self.a == null", "1:8: found no matching overload for '_==_' applied to '(string, null)'"],
    ["true && 1", "1:9: expected type 'bool' but found 'int'"],
    ["[1, 'a'].size() == 2", "1:5: expected type 'int' but found 'string'"],
    ["self.a.matches('[')", "1:16: invalid matches argument"],
    [
      "self.a +",
      "1:9: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', " +
      "NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
    ],
  ];
  for (const [text, issue] of cases) assertEquals(result(text), `ERROR: <input>:${issue}`, text);
  const { issues } = compile("true &&\n  x", new Map());
  assertEquals(issues, "ERROR: <input>:2:3: undeclared reference to 'x' (in container '')\n |   x\n | ..^");
});

Deno.test("checkRules() shows scalars but no lists and objects, and says what the rule says", () => {
  const texts = (value: unknown, schema: Schema, previous?: unknown) =>
    checkRules(value, schema, { previous, field: "f" }).errors.map(({ field, message }) => `${field}: ${message}`);
  assertEquals(texts(1, ruled({ rule: "self > 1" })), ["f: Invalid value: 1: failed rule: self > 1"]);
  const list: Schema = { type: "array", items: { type: "integer" } };
  assertEquals(texts([1], ruled({ rule: "self.size() > 1", message: "more" }, list)), ["f: Invalid value: more"]);
  assertEquals(texts([0, 2], { ...list, items: ruled({ rule: "self > 1" }) }), [
    "f[0]: Invalid value: 0: failed rule: self > 1",
  ]);
  assertEquals(texts(1, ruled({ rule: "self > 1", reason: "FieldValueRequired", message: "m" })), [
    "f: Required value: m",
  ]);
  assertEquals(texts(1, ruled({ rule: "self > 1", reason: "FieldValueDuplicate" })), ["f: Duplicate value: 1"]);
  assertEquals(texts(1, ruled({ rule: "self > 1", messageExpression: "'%d is small'.format([self])" })), [
    "f: Invalid value: 1: 1 is small",
  ]);
  assertEquals(texts(1, ruled({ rule: "self > 1", messageExpression: "''", message: "fallback" })), [
    "f: Invalid value: 1: fallback",
  ]);
  const object: Schema = { type: "object", properties: { "z-a": { type: "integer" } } };
  assertEquals(texts({}, ruled({ rule: "has(self.z__dash__a)", fieldPath: "['z-a']" }, object)), [
    "f.z-a: Invalid value: failed rule: has(self.z__dash__a)",
  ]);
  assertEquals(texts({}, ruled({ rule: "self.z__dash__a > 1" }, object)), [
    'f: Invalid value: "object": no such key: z__dash__a evaluating rule: self.z__dash__a > 1',
  ]);
});

Deno.test("checkRules() runs transition rules when there is something to compare with", () => {
  const refused = (schema: Schema, value: unknown, previous?: unknown) =>
    checkRules(value, schema, { previous, field: "f" }).errors.length;
  const grows = ruled({ rule: "self >= oldSelf" });
  assertEquals([refused(grows, 1), refused(grows, 1, 2), refused(grows, 3, 2)], [0, 1, 0]);
  const set = ruled({ rule: "oldSelf.hasValue()", optionalOldSelf: true });
  assertEquals([refused(set, 1), refused(set, 1, 2)], [1, 0]);
  const items: Schema = {
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
    items: ruled({ rule: "self.v >= oldSelf.v" }, {
      type: "object",
      properties: { name: { type: "string" }, v: { type: "integer" } },
    }),
  };
  const before = [{ name: "p", v: 1 }, { name: "q", v: 2 }];
  assertEquals(refused(items, [{ name: "q", v: 1 }, { name: "n", v: 0 }], before), 1);
});

Deno.test("checkRules() only warns of what was wrong before and did not change", () => {
  const { errors, warnings } = checkRules(1, ruled({ rule: "self > 1" }), { previous: 1, field: "f" });
  assertEquals([errors.length, warnings], [0, ["f: Invalid value: 1: failed rule: self > 1"]]);
});

Deno.test("checkSchemaRules() refuses rules that no server takes", () => {
  const cases: [ValidationRule, string, string][] = [
    [{ rule: "" }, "rule", "Required value: rule is not specified"],
    [{ rule: "self.a" }, "rule", "cel expression must evaluate to a bool"],
    [{ rule: "self.q > 1" }, "rule", 'Invalid value: {"Rule":"self.q \\u003e 1","Message":"","MessageExpression":"",'],
    [{ rule: "true", messageExpression: "1" }, "messageExpression", "messageExpression must evaluate to a string"],
    [{ rule: "true", messageExpression: "self.q" }, "messageExpression", "messageExpression compilation failed: ERROR"],
    [{ rule: "true", reason: "Nope" }, "reason", 'Unsupported value: "Nope": supported values: "FieldValueDuplicate"'],
    [{ rule: "true", fieldPath: ".nope" }, "fieldPath", 'Invalid value: ".nope": must be a valid path'],
    [{ rule: "true", message: "a\nb" }, "message", "must not contain line breaks"],
    [{ rule: "true", message: "  " }, "message", "must be non-empty if specified"],
    [{ rule: "true\n&& true" }, "message", "message must be specified if rule contains line breaks"],
    [{ rule: "true", optionalOldSelf: true }, "optionalOldSelf", "may not be set if oldSelf is not used in rule"],
  ];
  for (const [rule, member, message] of cases) {
    const [error] = checkSchemaRules(ruled(rule, SELF), "schema");
    assertEquals(error?.field, `schema.x-kubernetes-validations[0].${member}`);
    assertStringIncludes(error!.message, message);
  }
});

Deno.test("checkSchemaRules() refuses oldSelf where an item cannot be told from others", () => {
  const items = ruled({ rule: "self == oldSelf" }, { type: "string", maxLength: 3 });
  const [error] = checkSchemaRules({ type: "object", properties: { l: { type: "array", maxItems: 3, items } } }, "s");
  assertEquals(error?.field, "s.properties[l].items.x-kubernetes-validations[0].rule");
  assertStringIncludes(error!.message, "uncorrelatable portion of the schema within s.properties[l]");
});

Deno.test("checkSchemaRules() refuses rules that may cost too much", () => {
  const free = ruled({ rule: "self.contains('a')" }, { type: "string" });
  const many: Schema = { type: "object", properties: { l: { type: "array", items: free } } };
  const errors = checkSchemaRules(many, "s");
  assertEquals(errors.map(({ field }) => field), [
    "s.properties[l].items.x-kubernetes-validations[0].rule",
    "s.properties[l].items.x-kubernetes-validations[0].rule",
    "s",
  ]);
  assertStringIncludes(errors[0]!.message, "Forbidden: estimated rule cost exceeds budget by factor of more than 100x");
  const few: Schema = { type: "object", properties: { l: { type: "array", maxItems: 9, items: free } } };
  assertEquals(checkSchemaRules(few, "s"), []);
});
