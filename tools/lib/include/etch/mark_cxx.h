/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_MARK_CXX_H
#define _ETCH_MARK_CXX_H

/*
 * <etch/mark.h> for C++17: the types of expressions by templates. A marker is a class of its own,
 * with a site and an object that registers it before main().
 */

extern "C++" {
namespace etch__cxx {

template <class T> struct bare { using type = T; };
template <class T> struct bare<const T> { using type = T; };
template <class T> struct bare<volatile T> { using type = T; };
template <class T> struct bare<const volatile T> { using type = T; };

template <class T> struct is_text { static constexpr bool value = false; };
template <> struct is_text<char *> { static constexpr bool value = true; };
template <> struct is_text<const char *> { static constexpr bool value = true; };

template <class T> struct is_pointer { static constexpr bool value = false; };
template <class T> struct is_pointer<T *> { static constexpr bool value = true; };
template <> struct is_pointer<decltype(nullptr)> { static constexpr bool value = true; };

template <class T, class U> struct is_same { static constexpr bool value = false; };
template <class T> struct is_same<T, T> { static constexpr bool value = true; };

/* Integers, and enums that become one by themselves or by a cast. */
template <class T, bool = __is_enum(T)> struct integer { using type = __underlying_type(T); };
template <class T> struct integer<T, false> { using type = T; };

template <class T, class = void> struct is_integer { static constexpr bool value = false; };
template <class T> struct is_integer<T, decltype(void(~T(0)))> {
	static constexpr bool value = true;
};
template <> struct is_integer<bool, void> { static constexpr bool value = true; };

/* An object with c_str(). Not defined: its type is what counts. */
template <class T> const T &any();
template <class T, class = void> struct is_string { static constexpr bool value = false; };
template <class T> struct is_string<T, decltype(void(any<T>().c_str()))> {
	static constexpr bool value = is_text<decltype(any<T>().c_str())>::value;
};

constexpr uint16_t make_field(enum etch_mark_kind kind, size_t size)
{
	return uint16_t(kind << ETCH_MARK_SHIFT | (size < ETCH_STRING ? size : ETCH_STRING));
}

template <class T> struct integer_field {
	using type = typename integer<T>::type;
	static_assert(is_integer<type>::value && sizeof(type) <= 8,
		      "etch_mark(): neither a number of 64 bits at most, nor a pointer, nor a string");
	static constexpr uint16_t value = make_field(
		is_same<type, bool>::value ? ETCH_MARK_BOOL :
		is_same<type, char>::value ? ETCH_MARK_CHAR :
		type(-1) < type(1) ? ETCH_MARK_SIGNED : ETCH_MARK_UNSIGNED, sizeof(type));
};

/* The field of an expression of type T, without const and volatile. */
template <class T> constexpr uint16_t field()
{
	if constexpr (is_text<T>::value || is_string<T>::value)
		return make_field(ETCH_MARK_TEXT, ETCH_STRING);
	else if constexpr (is_pointer<T>::value)
		return make_field(ETCH_MARK_POINTER, sizeof(void *));
	else
		return integer_field<T>::value;
}

template <class T> struct of {
	static constexpr uint16_t value = field<typename bare<T>::type>();
};
/* Of arrays, those of char alone. */
template <size_t N> struct of<char[N]> {
	static constexpr uint16_t value = make_field(ETCH_MARK_TEXT, N);
};
template <size_t N> struct of<const char[N]> : of<char[N]> {};

template <class T> inline uint64_t word(const T &x)
{
	if constexpr (is_string<T>::value)
		return (uint64_t)(uintptr_t)x.c_str();
	else if constexpr (is_same<T, decltype(nullptr)>::value)
		return 0;
	else
		return (uint64_t)x;
}
template <size_t N> inline uint64_t word(const char (&x)[N])
{
	return (uint64_t)(uintptr_t)x;
}

template <class... T> struct pack {};
/* The types of all arguments but the first, which is the marker's name. Not defined. */
template <class... T> pack<T...> types_behind(const char *, const T &...);

struct adder {
	explicit adder(struct etch_mark_site *site) { etch__mark_add(site); }
};

template <class Here, class Types> struct site;
template <class Here, class... T> struct __attribute__((visibility("hidden")))
site<Here, pack<T...>> {
	static_assert(sizeof...(T) <= ETCH_MARK_FIELDS, "etch_mark(): more than 12 expressions");
	static struct etch_mark_site mark;
	static adder added;

	static bool enabled()
	{
		return __builtin_expect(etch__mark_on(mark.gate), 0);
	}

	static __attribute__((noinline, cold)) void hit(const T &...x)
	{
		const uint64_t values[] = { word(x)..., 0 };

		(void)&added;
		etch__mark_hit(&mark, values);
	}
};

template <class Here, class... T> struct etch_mark_site site<Here, pack<T...>>::mark = {
	&etch__mark_off, Here::provider(), Here::name(), Here::exprs(), sizeof...(T), 0,
	{ of<T>::value... }, 0,
};
template <class Here, class... T> adder site<Here, pack<T...>>::added(&site::mark);

template <class Site, class... T>
inline __attribute__((always_inline)) void hit_behind(const char *, const T &...x)
{
	Site::hit(x...);
}

} /* namespace etch__cxx */
} /* extern "C++" */

#define ETCH__FIRST(...) ETCH__FIRST_(__VA_ARGS__, 0)
#define ETCH__FIRST_(name, ...) name

/* @prov: a literal, or NULL. @text: all that follows, as it stands in the source; or NULL. */
#define ETCH__MARK(prov, text, ...)					\
do {									\
	struct etch__here {						\
		static constexpr const char *provider() { return prov; } \
		static constexpr const char *name() { return "" ETCH__FIRST(__VA_ARGS__); } \
		static constexpr const char *exprs() { return text; }	\
	};								\
	using etch__site = ::etch__cxx::site<etch__here,		\
		decltype(::etch__cxx::types_behind(__VA_ARGS__))>;	\
									\
	if (etch__site::enabled())					\
		::etch__cxx::hit_behind<etch__site>(__VA_ARGS__);	\
} while (0)

#endif /* _ETCH_MARK_CXX_H */
