const exact = (key, value, { source }) => (/^-?\d+$/.test(source) ? BigInt(source) : value);

JSON.parse('{"id":9007199254740993}', exact).id;
// 9007199254740993n
